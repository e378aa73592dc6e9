// Covers src/cli/tails-by.ts.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, expect, it } from 'vitest';
import { run } from '../captured-io.ts';

const folder = mkdtempSync(join(tmpdir(), 'tailmark-tails-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const path = join(folder, 'events.ndjson');

const startMs = 1_790_000_000_000;
/** A thousand requests of 1 to 1,000 ms over 1,000 s, of which one in ten is of another region and failed. */
const lines = Array.from({ length: 1_000 }, (_, i) => {
  const isOther = i % 10 === 0;
  return JSON.stringify({
    ts: startMs + i * 1_000,
    model: 'ranker',
    region: isOther ? 'b' : 'a',
    status: isOther ? 'error' : 'ok',
    total_ms: i + 1,
    stages_ms: { forward: (i + 1) / 2 },
  });
});
writeFileSync(path, `${lines.join('\n')}\nnonsense\n`);

const tailsOf = async (...flags: readonly string[]) => {
  const { exitCode, out } = await run(['tails', '--json', ...flags]);
  return { exitCode, ...JSON.parse(out) };
};

it('prints the tails of a file without any server', async () => {
  const { exitCode, out, err } = await run(['tails', '--input', path]);
  expect(exitCode).toBe(0);
  const rows = out.split('\n').map((line) => line.trim().split(/\s{2,}/));
  expect(rows.slice(0, 3)).toEqual([
    ['model', 'stage', 'requests', 'failed', 'p50', 'p90', 'p95', 'p99', 'p99.9', 'max'],
    expect.arrayContaining(['ranker', 'total', '1,000', '100', '1,000 ms']),
    expect.arrayContaining(['forward', '1,000', '100', '500 ms']),
  ]);
  expect(err).toBe('1 of 1,001 events not counted: rejected or late\n');
});

it('counts exactly, and its percentiles are those of the values', async () => {
  const { tails, events, not_counted } = await tailsOf('--input', path, '--stage', 'total');
  expect({ events, not_counted }).toEqual({ events: 1_001, not_counted: 1 });
  const [total] = tails;
  expect(total).toMatchObject({ model: 'ranker', requests: 1_000, failed: 100, max_ms: 1_000 });
  expect(total.mean_ms).toBeCloseTo(500.5, 3);
  for (const [name, exact] of [
    ['p50_ms', 500],
    ['p90_ms', 900],
    ['p99_ms', 990],
    ['p999_ms', 999],
  ] as const) {
    expect(Math.abs(total[name] - exact)).toBeLessThan(exact * 0.005 + 1);
  }
});

it('filters as over the tables', async () => {
  const flags = ['--input', path, '--stage', 'total'];
  const requests = async (...more: readonly string[]) => {
    const { exitCode, tails } = await tailsOf(...flags, ...more);
    return [exitCode, tails[0]?.requests];
  };
  expect(await requests('--region', 'b')).toEqual([0, 100]);
  expect(await requests('--warm')).toEqual([0, 1_000]);
  expect(await requests('--cold')).toEqual([0, undefined]);
  expect(await requests('--model', 'other')).toEqual([1, undefined]);
});

it('reads what convert writes', async () => {
  const fixture = new URL('../../fixtures/formats/torchserve/2019-first-commit/', import.meta.url);
  const files = ['access_log.log', 'model_metrics.log'].map((name) => join(fixture.pathname, name));
  const { out } = await run(['convert', ...files]);
  const { exitCode, out: table } = await run(['tails', '--input', '-'], {
    stdin: Readable.from([Buffer.from(out)]),
  });
  expect(exitCode).toBe(0);
  expect(table).toMatch(/squeezenet +total +2/);
});

it("prints the gaps between tokens that SGLang's bench has recorded as its own report does", async () => {
  const path = '../../fixtures/formats/llm-bench/sglang-0.5.23-bench-serving.jsonl';
  const { pathname } = new URL(path, import.meta.url);
  const flags = ['--model', 'tiny', '--start', '2026-11-25T12:00:00Z'];
  const { out } = await run(['convert', pathname, ...flags]);
  const stdin = Readable.from([Buffer.from(out)]);
  const ran = await run(['tails', '--json', '--input', '-', '--stage', 'inter_token_latency'], {
    stdin,
  });
  const [row] = JSON.parse(ran.out).tails;
  const report = JSON.parse(readFileSync(pathname, 'utf8'));
  // 145 gaps of 30 requests. A sum is of whole microseconds, a percentile within 0.6 %.
  expect(row).toMatchObject({ model: 'tiny', requests: 145, failed: 0 });
  expect(row.mean_ms).toBeCloseTo(report.mean_itl_ms, 3);
  expect(Math.abs(row.p50_ms / report.median_itl_ms - 1)).toBeLessThan(0.006);
  expect(Math.abs(row.p95_ms / report.p95_itl_ms - 1)).toBeLessThan(0.01);
  expect(row.max_ms).toBeCloseTo(12.100218, 6);
});

it('prints the tails by the values of a dimension, the slowest first', async () => {
  const { tails } = await tailsOf('--input', path, '--by', 'region');
  const shown = tails.map(({ stage, value, requests }: Record<string, unknown>) => [
    stage,
    value,
    requests,
  ]);
  expect(shown).toEqual([
    ['total', 'a', 900],
    ['total', 'b', 100],
  ]);
  const { out } = await run(['tails', '--input', path, '--by', 'region']);
  expect(
    out
      .split('\n')[0]
      ?.trim()
      .split(/\s{2,}/)
      .slice(0, 4),
  ).toEqual([...['model', 'stage', 'region', 'requests']]);
  // What the pages draw hollow has a star: from p99 of 900 requests on, and from p90 of 100.
  const cells = out.split('\n').map((line) => line.trim().split(/\s{2,}/));
  const starsOf = (row: readonly string[] = []) =>
    row.slice(-6).map((text) => text.startsWith('*'));
  expect(starsOf(cells[1])).toEqual([false, false, false, true, true, false]);
  expect(starsOf(cells[2])).toEqual([false, true, true, true, true, false]);
  expect(out).toContain(
    '* few requests: p90 needs 200, p95 needs 400, p99 needs 2,000, p99.9 needs 20,000\n',
  );
});

it.each([
  [['--by', 'tenant'], 'windows.dimensions must have it'],
  [['--by', 'input_tokens'], '--model must be given'],
  [['--by', 'input_tokens', '--model', 'ranker'], '--input must not be given'],
])('refuses %j', async (flags, reason) => {
  const { exitCode, err } = await run(['tails', '--input', path, ...flags]);
  expect(exitCode).toBe(64);
  expect(err).toContain(reason);
});

it.each([
  [['--model', 'rnker'], 'No request of model "rnker" is in the file. Known models: ranker.\n'],
  [['--stage', 'forwrd'], 'No request has the stage "forwrd". Known stages: forward, total.\n'],
  [
    ['--model', 'ranker', '--region', 'c'],
    'No request of model "ranker" has the region "c". Known regions: b, a.\n',
  ],
])('names what the file has where a flag names something else: %j', async (flags, sentence) => {
  const { exitCode, out, err } = await run(['tails', '--input', path, ...flags]);
  expect([exitCode, out]).toEqual([1, '']);
  expect(err).toBe(`${sentence}1 of 1,001 events not counted: rejected or late\n`);
});

it('splits and chooses by own dimensions, those without a value too', async () => {
  const adapters = ['a', 'a', 'a,b', '(none)', undefined, undefined, undefined];
  const events = adapters.map((adapter) => ({
    ...{ ts: startMs, model: 'llm', total_ms: 5 },
    ...(adapter !== undefined && { attributes: { adapter } }),
  }));
  const ofFile = async (...flags: readonly string[]) => {
    const stdin = Readable.from([
      Buffer.from(events.map((event) => JSON.stringify(event)).join('\n')),
    ]);
    const env = { TAILMARK_WINDOWS_DIMENSIONS: 'model,attributes.adapter,cold_start' };
    return run(['tails', '--input', '-', ...flags], { stdin, env });
  };
  const requests = async (...flags: readonly string[]) => {
    const { tails } = JSON.parse((await ofFile('--json', ...flags)).out);
    return tails.map((row: Record<string, unknown>) => row.requests);
  };
  expect(await requests('--where', 'attributes.adapter=')).toEqual([3]);
  expect(await requests('--where', 'attributes.adapter=(none)')).toEqual([1]);
  expect(await requests('--where', 'attributes.adapter=a,b')).toEqual([1]);
  const { out } = await ofFile('--by', 'attributes.adapter');
  const names = out.split('\n').map((line) => line.trim().split(/\s{2,}/));
  expect(names.flatMap((line) => line.find((cell) => cell.includes('none')) ?? []).sort()).toEqual([
    ...['"(none)"', '(none)'],
  ]);
  const unknown = await ofFile('--where', 'attributes.adapter=b');
  expect([unknown.exitCode, unknown.out, unknown.err]).toEqual([
    ...[1, ''],
    'No request has the attributes.adapter "b". Known values: a, a,b, "(none)", (none).\n',
  ]);
  const never = await ofFile('--where', 'attributes.gpu=h100');
  expect([never.exitCode, never.err]).toEqual([
    1,
    expect.stringMatching(/^No request has any attributes\.gpu\./),
  ]);
  const by = await ofFile('--by', 'attributes.gpu');
  expect([by.exitCode, by.err]).toEqual([
    64,
    expect.stringContaining('windows.dimensions must have it'),
  ]);
});

it('says at least where a percentile lies beyond the last request that ended', async () => {
  const finished = Array.from({ length: 1_000 }, (_, i) => ({ total_ms: i + 1, status: 'ok' }));
  const given = Array.from({ length: 10 }, () => ({ total_ms: 120_000, status: 'timeout' }));
  const events = [...finished, ...given].map((event) => ({
    ...{ ts: startMs, model: 'm', ...event },
    stages_ms: { queue: 0.5, forward: event.total_ms - 0.5 },
  }));
  const timeouts = join(folder, 'timeouts.ndjson');
  writeFileSync(timeouts, events.map((event) => JSON.stringify(event)).join('\n'));
  const { tails } = await tailsOf('--input', timeouts);
  const of = (stage: string) => tails.find((row: { stage: string }) => row.stage === stage);
  expect(of('total')).toMatchObject({
    ...{ requests: 1_010, censored: 10, p999_ms: 120_000, at_least: ['p999_ms'] },
  });
  expect(of('total').p99_ms).toBeLessThanOrEqual(1_000);
  expect(of('forward')).toMatchObject({ censored: 10, at_least: ['p999_ms'] });
  expect(of('queue')).toMatchObject({ censored: 0, at_least: [], p999_ms: 0.5 });
  const { out } = await run(['tails', '--input', timeouts]);
  const [, total, forward, queue] = out.split('\n');
  expect(total).toContain('at least 120 s');
  expect(forward).toContain('at least 120 s');
  expect(queue).not.toContain('at least');
});
