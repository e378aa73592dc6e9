import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { useStack } from '../../containers/stack.ts';
import { withRig } from '../kit/with-rig.ts';

const stack = useStack();
/** Where `pip install schemathesis` puts it; undefined where it is not. */
const schemathesis = (process.env.PATH ?? '')
  .split(delimiter)
  .map((folder) => join(folder, 'schemathesis'))
  .find((path) => existsSync(path));
const run = promisify(execFile);
const token = 'the-token-of-the-operator';
const seconds = 30;

/**
 * What a request may not show: an error of ours, an answer that its document does not describe, a wrong value
 * that is taken, a method without `Allow`, data without a login.
 */
const checks = [
  ...['not_a_server_error', 'status_code_conformance', 'content_type_conformance'],
  ...['response_headers_conformance', 'response_schema_conformance', 'negative_data_rejection'],
  ...['unsupported_method', 'allow_header_conformance', 'ignored_auth'],
];

const maxAddress = 16 * 1024;
/** 431 refuses a wrong value as well; an autoscaler gets 503 where the load is not known. */
const settings = `
[checks.negative_data_rejection]
expected-statuses = ["4xx"]

[[operations]]
include-path = "/v1/autoscale"
checks.not_a_server_error.expected-statuses = ["2xx", "3xx", "4xx", "503"]
`;

it.skipIf(schemathesis === undefined)(
  'the API is as /openapi.json says, whatever is asked',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tailmark-schemathesis-'));
    try {
      await withRig({ stack, name: 'schemathesis' }, async (rig) => {
        const tokensFile = join(folder, 'tokens');
        writeFileSync(tokensFile, `ann ${createHash('sha256').update('a-token').digest('hex')}`);
        await rig.start(['ingest']);
        const http = {
          ...rig.config.http,
          operator_token: token,
          auth: { tokens_file: tokensFile },
        };
        const { url } = await rig.start(['serve'], { ...rig.config, http });
        writeFileSync(join(folder, 'schemathesis.toml'), settings);
        const nowMs = Date.now();
        const events = Array.from({ length: 300 }, (_, i) => ({
          value: JSON.stringify({
            ...{ ts: nowMs - 20_000 + i * 10, model: 'ranker', version: `v${i % 2}` },
            ...{ total_ms: 20 + i, stages_ms: { forward: 10 + i } },
          }),
        }));
        await rig.publish(events);
        await rig.untilConsumed(events.length);
        const args = [
          ...['run', `${url}/openapi.json`, '--checks', checks.join(',')],
          ...['--header', `Authorization: Bearer ${token}`, '--max-time', String(seconds)],
          ...['--phases', 'examples,coverage,fuzzing', '--max-examples', '25', '--seed', '1'],
          ...['--generation-database', 'none', '--no-color', '--warnings', 'off'],
          '--continue-on-failure',
        ];
        const stdout = await run(schemathesis ?? '', args, { cwd: folder }).then(
          (ended) => ended.stdout,
          (error) => String(error.stdout),
        );
        expect(stdout).toMatch(/Selected: (\d+)\/\1\s+Tested: \1\s/);
        const [, errors = '', failures] = stdout.split(/^=+ (?:ERRORS|FAILURES|SUMMARY) =+$/m);
        // An address beyond 16 KiB is refused with 431 before it is read, and the connection is closed.
        const short = errors.match(/^ *curl .*$/gm)?.filter((line) => line.length < maxAddress);
        expect(short ?? []).toEqual([]);
        expect(stdout.includes('= FAILURES =') ? (failures ?? errors) : '').toBe('');
      });
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
  180_000,
);
