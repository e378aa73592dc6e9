import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { minuteMs } from '../../src/base/time.ts';
import type { NamedComparison } from '../../src/compare/comparison.ts';
import { Random } from '../../src/generate/random.ts';
import { useStack } from '../containers/stack.ts';
import { packed } from './kit/packed.ts';
import type { Rig } from './kit/rig.ts';
import { withRig } from './kit/with-rig.ts';

const stack = useStack();
const minutes = 20;
const requestsPerMinute = 300;
/** Names are text, whatever they hold. */
const slowVersion = 'v2, <b>50%</b>|:x';

interface Sent {
  readonly version: string;
  readonly queueFactor: number;
  readonly failing: number;
  readonly cold?: boolean;
  /** Every second request is of type `rank`. */
  readonly ranks?: boolean;
}

/** Requests of one version that end in one of the minutes, evenly spread over each. */
function* events(
  startMs: number,
  { version, queueFactor, failing, cold = false, ranks = false }: Sent,
) {
  const random = new Random(`compare ${version} ${cold}`);
  for (let n = 0; n < minutes * requestsPerMinute; n++) {
    const queue = random.lognormal(40, 0.5) * queueFactor;
    const forward = random.lognormal(20, 0.2);
    const endMs = startMs + Math.floor(((n + 0.5) * minuteMs) / requestsPerMinute);
    yield {
      ts: Math.floor(endMs - queue - forward),
      ...{ model: 'ranker', version, region: 'eu-west-1', cold_start: cold },
      ...(ranks && n % 2 === 0 ? { request_type: 'rank' } : {}),
      status: (n * 7919) % 1000 < failing * 1000 ? 'error' : 'ok',
      stages_ms: { queue, forward },
    };
  }
}

async function ingest(rig: Rig, startMs: number, sent: readonly Sent[]): Promise<void> {
  const last = {
    ts: startMs + (minutes + 1) * minuteMs,
    model: 'other',
    stages_ms: { forward: 1 },
  };
  const all = [...sent.flatMap((each) => [...events(startMs, each)])];
  const ordered = all.toSorted((a, b) => a.ts - b.ts);
  await rig.publish(packed([...ordered, last]));
  const pipeline = await rig.start(['ingest']);
  await rig.untilConsumed(ordered.length + 1);
  await pipeline.stop();
}

/** The latest hour is the same for all: they stand in order. */
function unseenReason(version: string): string {
  const known = `broken, same, ${slowVersion}`;
  return `no request of version ${version} of model ranker in the last 30 d; known versions: ${known}`;
}

/** The same answers over HTTP, from the version's first minute on. */
async function askOverHttp(rig: Rig): Promise<void> {
  const { url } = await rig.start(['serve']);
  const ask = async (path: string, version: string, method = 'GET') => {
    const names = new URLSearchParams({ model: 'ranker', version, baseline: 'v1' });
    const response = await fetch(`${url}${path}?${names}`, { method });
    return { status: response.status, text: await response.text() };
  };
  const slow = await ask('/v1/verdict', slowVersion);
  expect([slow.status, JSON.parse(slow.text)]).toMatchObject([200, { verdict: 'fail', minutes }]);
  const gate = async (name: string, version: string) =>
    (await ask(`/v1/gate/${name}`, version, 'POST')).status;
  expect([await gate('promote', slowVersion), await gate('rollback', slowVersion)]).toEqual([
    409, 200,
  ]);
  expect([await gate('promote', 'same'), await gate('rollback', 'same')]).toEqual([200, 409]);
  // Argo shows the body of a 200 only, and Flagger that of any answer.
  const reason = unseenReason('never');
  const never = await ask('/v1/verdict', 'never');
  expect([never.status, JSON.parse(never.text)]).toMatchObject([
    200,
    { verdict: 'inconclusive', reason, since: null, missing_requests: 500 },
  ]);
  expect(await ask('/v1/gate/promote', 'never', 'POST')).toEqual({
    status: 409,
    text: `inconclusive: ${reason}\n`,
  });
  expect(await gate('rollback', 'never')).toBe(409);
  const noBaseline = await fetch(
    `${url}/v1/verdict?model=ranker&version=broken&baseline=sane&since=1h`,
  );
  expect(await noBaseline.json()).toMatchObject({
    ...{ verdict: 'inconclusive', reason: expect.stringMatching(/: same, v/) },
  });
  const itself = await ask('/v1/verdict', 'v1');
  expect([itself.status, JSON.parse(itself.text).detail]).toEqual([
    400,
    'version and baseline must be two versions: both are "v1".',
  ]);
  // The traffic ended minutes ago, and nobody knows whether there is more.
  const load = await fetch(`${url}/v1/autoscale?model=ranker&stage=queue&q=0.95&objective_ms=50`);
  expect([load.status, load.headers.get('content-type')]).toEqual([
    503,
    'application/problem+json',
  ]);
}

describe('tailmark compare', () => {
  it('fails what is slower, names the stage, passes what is equal, and leaves cold starts out', () =>
    withRig({ stack, name: 'compare' }, async (rig) => {
      const startMs = Math.floor(Date.now() / minuteMs - minutes - 5) * minuteMs;
      await ingest(rig, startMs, [
        { version: 'v1', queueFactor: 1, failing: 0.005 },
        { version: 'v1', queueFactor: 9, failing: 0, cold: true },
        { version: 'same', queueFactor: 1, failing: 0.005 },
        { version: slowVersion, queueFactor: 2, failing: 0.005 },
        { version: 'broken', queueFactor: 1, failing: 0.1 },
      ]);
      const compare = async (version: string, ...more: readonly string[]) => {
        const names = ['--model', 'ranker', '--version', version, '--baseline', 'v1'];
        const since = ['--since', new Date(startMs).toISOString()];
        return rig.cli(['compare', ...names, ...since, ...more]);
      };
      const parsed = async (version: string, ...more: readonly string[]) => {
        const { exitCode, err, out } = await compare(version, '--json', ...more);
        expect(err).toBe('');
        return { exitCode, ...(JSON.parse(out) as NamedComparison) };
      };

      const slow = await parsed(slowVersion);
      expect(slow).toMatchObject({
        ...{ exitCode: 2, verdict: 'fail', missing_requests: 0, minutes, version: slowVersion },
        requests: { candidate: 6_000, baseline: 6_000 },
        ...{ mix: [], like_with_like: null },
        failures: { candidate: 30, baseline: 30, candidate_share: 0.005, baseline_share: 0.005 },
      });
      expect(slow.stages.map(({ stage }) => stage)).toEqual(['queue', 'forward']);
      expect(slow.stages[0]?.share_of_excess).toBeGreaterThan(0.9);
      expect(slow.reason).toMatch(
        / times that of version v1 \(.* ms against .* ms\); queue explains \d+ % of its rise \(slowest 1 %: mean \+\d+ ms\)$/,
      );
      const [tables] = await rig.rows<{ p99: number }>(
        `SELECT quantilesTDigestMerge(0.99)(latency)[1] AS p99 FROM latency_1m
         WHERE version = {version:String} AND stage = 'total'`,
        { version: slowVersion },
      );
      const p99 = slow.quantiles.find(({ q }) => q === 0.99);
      expect((p99?.candidate_ms ?? 0) / (tables?.p99 ?? 0)).toBeCloseTo(1, 1);

      expect(await parsed('same')).toMatchObject({ exitCode: 0, verdict: 'pass', minutes });
      const broken = await parsed('broken');
      expect(broken).toMatchObject({ exitCode: 2, verdict: 'fail', failed_by: 'failures' });
      expect(broken.reason).toBe('10 % of requests fail, against 0.5 % of version v1');

      const early = await parsed(
        slowVersion,
        '--until',
        new Date(startMs + 2 * minuteMs).toISOString(),
      );
      expect(early).toMatchObject({ exitCode: 0, verdict: 'inconclusive', minutes: 2 });
      // Nobody can send more requests of a range that is over.
      expect(early).toMatchObject({
        missing_requests: 0,
        reason:
          'too short for a release verdict: 2 minutes have requests of both, and it takes at least 6',
      });
      expect(await parsed('never')).toMatchObject({
        ...{ exitCode: 0, verdict: 'inconclusive', minutes: 0, reason: unseenReason('never') },
      });
      const itself = await compare('v1');
      expect([itself.exitCode, itself.err]).toEqual([
        64,
        'error: Cannot compare as the version must differ from its baseline: both are "v1"\n',
      ]);
      expect(await parsed(slowVersion, '--cold')).toMatchObject({
        verdict: 'inconclusive',
        minutes: 0,
      });

      // The first ten minutes of one version, and the other ten of another one.
      const at = (minute: number) => new Date(startMs + minute * minuteMs).toISOString();
      const ranges = await rig.cli([
        ...['compare', '--model', 'ranker', '--a', 'v1', '--b', slowVersion, '--json'],
        ...['--a-from', at(0), '--a-to', at(10), '--b-from', at(10), '--b-to', at(20)],
      ]);
      expect([ranges.exitCode, ranges.err]).toEqual([2, '']);
      expect(JSON.parse(ranges.out)).toMatchObject({
        ...{ verdict: 'fail', minutes: 10, requests: { candidate: 3_000, baseline: 3_000 } },
        baseline: `v1 from ${at(0).slice(0, 16)}Z`,
        version: `${slowVersion} from ${at(10).slice(0, 16)}Z`,
        reason: expect.stringMatching(/ that of A \(.*\); queue explains \d+ % of it/),
      });

      const shown = await compare(slowVersion);
      expect(shown.exitCode).toBe(2);
      expect(shown.out).toMatch(/^p99 +\d.* ms +\d.* ms +× \d/m);
      expect(shown.out).toMatch(/^queue +\d/m);
      expect(shown.out).toMatch(/^fail {2}ranker: /m);
      await askOverHttp(rig);
    }));

  it('prints an annotation for a workflow, and appends its summary', () =>
    withRig({ stack, name: 'compare-github' }, async (rig) => {
      const startMs = Math.floor(Date.now() / minuteMs - minutes - 5) * minuteMs;
      await ingest(rig, startMs, [
        { version: 'v1', queueFactor: 1, failing: 0 },
        { version: slowVersion, queueFactor: 3, failing: 0, ranks: true },
      ]);
      const folder = mkdtempSync(join(tmpdir(), 'tailmark-summary-'));
      rig.atEnd(async () => rmSync(folder, { recursive: true }));
      const summary = join(folder, 'summary.md');
      const { exitCode, out, err } = await rig.cli(
        [
          ...['compare', '--model', 'ranker', '--version', slowVersion, '--baseline', 'v1'],
          ...['--since', new Date(startMs).toISOString(), '--format', 'github'],
        ],
        { env: { ...rig.env, GITHUB_STEP_SUMMARY: summary } },
      );
      expect([exitCode, err]).toEqual([2, '']);
      expect(out).toMatch(
        /^::error title=Release fails%3A ranker v2%2C <b>50%25<\/b>\|%3Ax::p(50|95|99) is [^\n]*\n$/,
      );
      const markdown = readFileSync(summary, 'utf8');
      expect(markdown).toContain('### Release fails');
      expect(markdown).toContain('v2, &lt;b&gt;50%&lt;/b&gt;&#124;&#58;x');
      expect(markdown).not.toContain('<b>');
      expect(markdown).toMatch(/^\| p99 of queue \| /m);
      expect(markdown).toMatch(
        /^Not like with like&#58; .*\n\nrequest type .*50 % of B.*\n\nrequest type .*\n\nWith the requests of A, B would have p50 \d/m,
      );
    }));
});
