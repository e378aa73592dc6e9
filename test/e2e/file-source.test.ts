import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, expect, it } from 'vitest';
import { useStack } from '../containers/stack.ts';
import { withRig } from './kit/with-rig.ts';

const stack = useStack();
const folder = mkdtempSync(join(tmpdir(), 'tailmark-file-source-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const startMs = Date.now() - 600_000;
const lines = Array.from({ length: 100 }, (_, i) =>
  JSON.stringify({ ts: startMs + i * 100, model: 'm', total_ms: 5 + i }),
);

it('A file is counted under any name, or its run fails with the reason', () =>
  withRig({ stack, name: 'file_source' }, async (rig) => {
    const ingest = async (name: string, content: string | Buffer) => {
      const path = join(folder, name);
      writeFileSync(path, content);
      const { exitCode, err } = await rig.cli([
        'run',
        '--source',
        'file',
        '--file',
        path,
        '--roles',
        'ingest',
      ]);
      return { exitCode, error: /^error: .*$/m.exec(err)?.[0].replace(path, 'FILE') };
    };
    const text = lines.join('\n');
    const counted = { exitCode: 0, error: undefined };
    expect(await ingest('plain.ndjson', text)).toEqual(counted);
    expect(await ingest('zipped.ndjson', gzipSync(text))).toEqual(counted);
    expect(await ingest('half.ndjson', `${text}\nts,model\n`)).toEqual(counted);
    const [stored] = await rig.rows<{ n: string }>(
      `SELECT sum(requests) AS n FROM latency_1d WHERE stage = 'total' AND model = 'm'`,
    );
    expect(Number(stored?.n)).toBe(3 * lines.length);
    expect(await ingest('table.csv', 'ts,model\n1,m\n2,m\n')).toEqual({
      exitCode: 64,
      error:
        'error: Cannot read FILE: it must hold timing events; none of 3 counts (invalid_json 3)',
    });
    expect(await ingest('empty.ndjson', '')).toEqual({
      exitCode: 64,
      error: 'error: Cannot read FILE: it must hold timing events; it is empty',
    });
    expect(await ingest('cut.ndjson.gz', gzipSync(text).subarray(0, -20))).toEqual({
      exitCode: 1,
      error:
        'error: Cannot read FILE to its end: its gzip is cut short or damaged (unexpected end of file)',
    });
  }));
