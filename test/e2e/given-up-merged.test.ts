import { expect, it } from 'vitest';
import { ChunkBlock } from '../../src/sink/chunks/chunk-block.ts';
import { chunkColumns } from '../../src/sink/chunks/chunk-columns.ts';
import { encodeChunk } from '../../src/sink/chunks/encode-chunk.ts';
import { sendBytes } from '../../src/sink/row-binary/row-binary-of.ts';
import { type Resolution, resolutions, windowSeconds } from '../../src/sink/windows/read-tails.ts';
import { tailsView } from '../../src/views/tails.ts';
import { useStack } from '../containers/stack.ts';
import type { Observed } from '../sketch/kaplan-meier.ts';
import { checkedQuantiles, drawRequests, errorsOf, fiveLimits } from '../sketch/time-limits.ts';
import { TestChunk } from '../window/test-chunk.ts';
import { Rig } from './kit/rig.ts';

const stack = useStack();
const hourMs = 3_600_000;
// The tables drop rows that are older than their retention.
const startMs = Math.floor(Date.now() / hourMs - 2) * hourMs;
const chunks = 6;

/** Stores requests that ended in one window, as a chunk. */
async function store(rig: Rig, requests: readonly Observed[], at: number): Promise<void> {
  const chunk = new TestChunk({ dimensions: ['model'], facets: [] }).begin();
  chunk.add(
    ...requests.map(({ ms, isCensored }, n) => ({
      ...{ ts: startMs + n - Math.ceil(ms) + 1, model: 'm', total_ms: ms },
      status: isCensored ? ('timeout' as const) : ('ok' as const),
    })),
  );
  const origin = { groupId: 'g', topic: 't', partition: 0, logId: 'c/t', startOffset: 1_000 * at };
  const block = encodeChunk(chunk.accumulator, { ...origin, nowMs: startMs }, new ChunkBlock());
  const insert = `INSERT INTO chunk_rows (${chunkColumns.join(', ')}) FORMAT Native`;
  await sendBytes(rig.client, insert, block.bytes, {});
}

/** Quantiles of the window that a resolution has at a time, as a page has them. */
async function ask(rig: Rig, resolution: Resolution, atMs: number) {
  const step = windowSeconds[resolution];
  const fromSeconds = Math.floor(atMs / 1000 / step) * step;
  const { rows } = await tailsView(rig.client, {
    filters: { model: 'm', version: '', requestType: '', region: '', start: 'all' },
    ...{ by: 'stage', stage: 'total', quantiles: checkedQuantiles },
    bounds: { completeMs: Number.POSITIVE_INFINITY, finalMs: 0 },
    range: { fromSeconds, toSeconds: fromSeconds + step, stepSeconds: step, resolution },
  });
  const found = rows[0]?.quantiles ?? [];
  const quantile = (q: number) => {
    const { ms, at_least } = found.find((each) => each.q === q) ?? { ms: null, at_least: false };
    return { ms: ms ?? Number.NaN, isAtLeast: at_least };
  };
  return { rows, quantile };
}

it('rows with and without requests that were given up are merged apart, in every table', async () => {
  // Its chunks have no ledger: there is nothing to verify.
  const rig = await Rig.open({ stack, name: 'given-up-merged' });
  try {
    await expectMergedApart(rig);
  } finally {
    await rig.close();
  }
});

async function expectMergedApart(rig: Rig): Promise<void> {
  const of = { kind: 'hang, long', limits: fiveLimits, share: 0.1, count: 6_000 } as const;
  const observed = drawRequests(of, 1);
  // Of every second chunk all requests ended.
  const chunkOf = ({ isCensored }: Observed, n: number) =>
    isCensored ? 2 * (n % (chunks / 2)) : n % chunks;
  for (let at = 0; at < chunks; at++) {
    await store(
      rig,
      observed.filter((request, n) => chunkOf(request, n) === at),
      at,
    );
  }
  const expectTails = async (resolution: Resolution) => {
    const tails = await ask(rig, resolution, startMs);
    const { requests, censored } = tails.rows[0] ?? {};
    expect([resolution, requests, censored]).toEqual([
      ...[resolution, observed.length],
      observed.filter(({ isCensored }) => isCensored).length,
    ]);
    for (const error of errorsOf(observed, tails)) {
      expect(error.isOtherKind, resolution).toBe(false);
      expect(error.rank, resolution).toBeLessThanOrEqual(0.06);
      expect(error.value, resolution).toBeLessThan(0.1);
    }
  };
  for (const resolution of resolutions) {
    await expectTails(resolution);
    await rig.client.command({ query: `OPTIMIZE TABLE latency_${resolution} FINAL` });
    await expectTails(resolution);
    const [stored] = await rig.rows<{ kinds: unknown[] }>(
      `SELECT groupArray((has_censored, marks)) AS kinds FROM (
           SELECT has_censored, length(chunk_marks) AS marks FROM latency_${resolution}
           WHERE stage = 'total' ORDER BY has_censored)
         SETTINGS output_format_json_quote_64bit_integers = 0`,
    );
    expect(stored?.kinds).toEqual([
      [false, 3],
      [true, 3],
    ]);
  }

  // An hour earlier the same, as rows from before the migration are: of both kinds in one.
  const earlier = 'window_start - 3600 AS window_start';
  await rig.client.command({
    query: `INSERT INTO latency_1h (* EXCEPT (has_censored, ended_latency))
        SELECT * EXCEPT (has_censored, ended_latency) REPLACE (${earlier}) FROM latency_1h`,
  });
  await rig.client.command({ query: 'OPTIMIZE TABLE latency_1h FINAL' });
  const before = await ask(rig, '1h', startMs - hourMs);
  expect(before.rows[0]).toMatchObject({ requests: observed.length });
  const errors = errorsOf(observed, before);
  expect(errors.some(({ isOtherKind }) => isOtherKind)).toBe(false);
  expect(errors[0]?.value).toBeLessThan(0.05);
  expect(errors[1]?.rank).toBeLessThan(0.1);
}
