// Covers src/cli/compare/asked-comparison.ts and src/cli/text/render-comparison.ts.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { NamedComparison } from '../../../src/compare/comparison.ts';
import { Random } from '../../../src/generate/random.ts';
import { run } from '../captured-io.ts';

const folder = mkdtempSync(join(tmpdir(), 'tailmark-compare-files-'));
const path = (name: string) => join(folder, name);

/** Twenty minutes of recorded events. */
function recorded(
  name: string,
  startMs: number,
  factor: number,
  models = ['ranker'],
  rankEvery = 4,
): string {
  const random = new Random(`files ${name}`);
  const events = Array.from({ length: 6_000 }, (_, n) => {
    const queue = random.lognormal(40, 0.5) * factor;
    const isRank = n % rankEvery === 0;
    const forward = random.lognormal(20, 0.2) * (isRank ? 5 : 1);
    const endMs = startMs + n * 200;
    return {
      ...{ ts: Math.floor(endMs - queue - forward), model: models[n % models.length] },
      request_type: isRank ? 'rank' : 'search',
      ...{ version: n % 2 === 0 ? 'x' : 'y', cold_start: n % 50 === 0 },
      ...{ status: n % 200 === 0 ? 'error' : 'ok', stages_ms: { queue, forward } },
    };
  });
  return events.map((event) => JSON.stringify(event)).join('\n');
}

beforeAll(() => {
  writeFileSync(path('before.ndjson'), recorded('a', Date.UTC(2026, 9, 1), 1));
  writeFileSync(path('same.ndjson'), recorded('b', Date.UTC(2026, 10, 3, 7, 31, 10), 1));
  writeFileSync(path('slow.ndjson.gz'), gzipSync(recorded('c', Date.UTC(2026, 10, 4), 2)));
  writeFileSync(path('two.ndjson'), recorded('d', Date.UTC(2026, 10, 4), 1, ['ranker', 'm<2>']));
  writeFileSync(path('ranks.ndjson'), recorded('e', Date.UTC(2026, 10, 5), 1, ['ranker'], 2));
  writeFileSync(path('none.ndjson'), 'ts,model\n');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const compare = (a: string, b: string, ...more: readonly string[]) =>
  run(['compare', '--a-file', path(a), '--b-file', path(b), ...more], { env: {} });

describe('tailmark compare of files', () => {
  it('needs no server, and pairs minutes by their distance from the first one', async () => {
    const slow = await compare('before.ndjson', 'slow.ndjson.gz', '--json');
    expect([slow.exitCode, slow.err]).toEqual([2, '']);
    const compared = JSON.parse(slow.out) as NamedComparison;
    expect(compared).toMatchObject({
      ...{ verdict: 'fail', model: 'ranker', version: 'slow.ndjson.gz', baseline: 'before.ndjson' },
      // Cold starts are left out.
      requests: { candidate: 5_880, baseline: 5_880 },
    });
    expect(compared.minutes).toBeGreaterThanOrEqual(20);
    expect(compared.reason).toMatch(/^p99 is .* times that of A .*; queue explains \d+ % of it/);
    expect(compared.stages[0]?.stage).toBe('queue');

    const same = await compare('before.ndjson', 'same.ndjson', '--json');
    expect([same.exitCode, JSON.parse(same.out).verdict]).toEqual([0, 'pass']);
    const shown = await compare('before.ndjson', 'slow.ndjson.gz');
    expect(shown.out).toMatch(/^fail {2}ranker: p99 is /m);
  });

  it('says where the sides consist of other requests, and gives both numbers', async () => {
    const asked = await compare('before.ndjson', 'ranks.ndjson', '--json');
    const { mix, like_with_like, quantiles } = JSON.parse(asked.out) as NamedComparison;
    const p95 = (of: NamedComparison['like_with_like']) => of?.find(({ q }) => q === 0.95);
    expect(mix).toEqual([
      'request type rank: 49 % of B, 24 % of A.',
      'request type search: 51 % of B, 76 % of A.',
    ]);
    expect(p95(quantiles)?.ratio).toBeGreaterThan(1.04);
    expect(p95(like_with_like)?.ratio).toBeGreaterThan(0.97);
    expect(p95(like_with_like)?.ratio).toBeLessThan(1.03);
    const { out } = await compare('before.ndjson', 'ranks.ndjson');
    expect(out).toContain('Not like with like: B and A consist of other requests.\n  request type');
    expect(out).toMatch(
      /^With the requests of A, B would have p50 .* ms, × \d.* \(measured .* ms, × \d.*\); p95 .*\.$/m,
    );
    const same = await compare('before.ndjson', 'same.ndjson', '--json');
    expect(JSON.parse(same.out)).toMatchObject({ mix: [], like_with_like: null });
  });

  it('selects by model and version, and says what it lacks', async () => {
    const versions = ['--a', 'x', '--b', 'y', '--json'];
    const halves = await compare('before.ndjson', 'same.ndjson', ...versions);
    expect(JSON.parse(halves.out).requests).toEqual({ candidate: 3_000, baseline: 2_880 });
    const two = await compare('before.ndjson', 'two.ndjson');
    expect([two.exitCode, two.err]).toEqual([
      64,
      expect.stringMatching(/^error: Cannot compare as --model must name one of the 2 models/),
    ]);
    const one = await compare('before.ndjson', 'two.ndjson', '--model', 'ranker', '--json');
    expect(JSON.parse(one.out).requests).toEqual({ candidate: 2_880, baseline: 5_880 });
    const none = await compare('before.ndjson', 'none.ndjson');
    expect(none.err).toMatch(/it must hold timing events; none of 1 counts/);
    expect(none.err).toContain('`tailmark convert` makes one of spans, access logs and load-test');
  });

  it.each([
    [[], '--model must name the model'],
    [['--model', 'm'], 'two versions must be named: --b, --a is missing'],
    [['--model', 'm', '--a', 'v1'], 'two versions must be named: --b is missing'],
    [['--a-file', 'x'], 'both files must be named: --b-file is missing'],
    [['--a-file', '-', '--b-file', '-'], 'only one of --a-file and --b-file'],
    [['--a-file', 'x', '--b-file', 'y', '--a-to', '1h'], 'exclude each other'],
    [['--model', 'm', '--a-from', '2h'], 'both ranges must be named: --a-to, --b-from, --b-to'],
    [
      ['--model', 'm', '--a-from', '1h', '--a-to', '2h', '--b-from', '1h', '--b-to', 'now'],
      '--a-from must lie before --a-to',
    ],
  ])('refuses %j', async (flags, reason) => {
    const { exitCode, err } = await run(['compare', ...flags], { env: {} });
    expect(exitCode).toBe(64);
    expect(err).toContain(reason);
  });
});
