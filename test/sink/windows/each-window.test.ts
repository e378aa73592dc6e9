import { Readable } from 'node:stream';
import { type ClickHouseClient, ClickHouseError } from '@clickhouse/client';
import { describe, expect, it } from 'vitest';
import type { Series, SeriesWindow } from '../../../src/series/series-window.ts';
import { eachBlock, eachWindow } from '../../../src/sink/windows/each-window.ts';
import { summarizeWindow } from '../../scenarios/summarize-window.ts';
import { encodeWindows } from './encode-windows.ts';

const windowMs = 10_000;
const fromMs = 1_790_000_040_000;
const range = { fromMs, toMs: fromMs + 100 * windowMs, windowMs };

function windowAt(n: number, model = 'ranker', stageCount = 1): SeriesWindow {
  const none = { service: '', version: '', request_type: '', region: '', host: '', tenant: '' };
  const series: Series = { ...none, model, cold_start: false };
  const stages = Array.from({ length: stageCount }, (_, i): [string, number[]] => [`s${i}`, [n]]);
  return summarizeWindow({
    ...{ series, windowMs, windowStartMs: fromMs + n * windowMs },
    stages: new Map(stages),
  });
}

const memoryError = () =>
  new ClickHouseError({
    message: 'memory limit exceeded: would use 9.00 GiB',
    code: '241',
    type: 'MEMORY_LIMIT_EXCEEDED',
  });

/** ClickHouse as windows are read from it, which fails where more than so many are requested. */
function tables(stored: readonly SeriesWindow[], mostOf: () => number, error = memoryError) {
  const asked: [first: number, windows: number][] = [];
  const client = {
    exec: async ({ query_params }: { query_params: Record<string, number> }) => {
      const { fromSeconds = 0, toSeconds = 0 } = query_params;
      const windows = ((toSeconds - fromSeconds) * 1000) / windowMs;
      asked.push([(fromSeconds * 1000 - fromMs) / windowMs, windows]);
      if (windows > mostOf()) throw error();
      const found = stored.filter(({ windowStartMs: ms }) => {
        return ms >= fromSeconds * 1000 && ms < toSeconds * 1000;
      });
      const bytes = encodeWindows(found);
      return { stream: Readable.from(bytes.length === 0 ? [] : [bytes]) };
    },
    query: async ({ query_params }: { query_params: Record<string, number> }) => {
      const { fromSeconds = 0, toSeconds = 0 } = query_params;
      const first = stored
        .map(({ windowStartMs }) => windowStartMs / 1000)
        .find((seconds) => seconds >= fromSeconds && seconds < toSeconds);
      return { json: async () => (first === undefined ? [] : [{ first_seconds: first }]) };
    },
  } as unknown as ClickHouseClient;
  return { client, asked };
}

/** Every third window has a series. */
const sparse = Array.from({ length: 33 }, (_, n) => windowAt(3 * n + 1));
const starts = Array.from({ length: 100 }, (_, n) => n);
const outline = ({ startMs, windows }: { startMs: number; windows: readonly unknown[] }) => [
  (startMs - fromMs) / windowMs,
  windows.length,
];

describe('eachWindow', () => {
  const expected = starts.map((n) => [n, n % 3 === 1 && n < 99 ? 1 : 0]);

  it('gives each start of a range once, in order, those without a series too', async () => {
    const { client, asked } = tables(sparse, () => 1_000);
    const found = [];
    for await (const at of eachWindow(client, range)) found.push(outline(at));
    expect(found).toEqual(expected);
    expect(asked).toEqual([
      [0, 4],
      [4, 4],
      [8, 8],
      [16, 8],
      [24, 16],
      [40, 16],
      [56, 32],
      [88, 12],
    ]);
  });

  it('queries the end of a gap, and reads little of what follows it', async () => {
    const stored = [windowAt(1), ...Array.from({ length: 20 }, (_, n) => windowAt(70 + n))];
    const { client, asked } = tables(stored, () => 1_000);
    const found = [];
    for await (const at of eachWindow(client, range)) found.push(outline(at));
    expect(found).toEqual(starts.map((n) => [n, n === 1 || (n >= 70 && n < 90) ? 1 : 0]));
    // The piece from 8 on was requested before the one from 4 on was known to be empty.
    expect(asked.slice(0, 4)).toEqual([
      [0, 4],
      [4, 4],
      [8, 8],
      [70, 8],
    ]);
  });

  it('halves pieces that are too large for ClickHouse, gives each start once, and tries more later', async () => {
    const { client, asked } = tables(sparse, () => 2);
    const found = [];
    const reported: [number, string][] = [];
    const onTooMuch = (windows: number, setting: string) => void reported.push([windows, setting]);
    for await (const at of eachWindow(client, range, { onTooMuch })) found.push(outline(at));
    expect(found).toEqual(expected);
    expect(reported[0]).toEqual([4, 'max_memory_usage']);
    // Read-ahead piece by piece, of two windows; four are tried again after every eight that succeed.
    const failures = asked.filter(([, windows]) => windows > 2).length;
    expect(failures).toBe(reported.length);
    expect(reported).toHaveLength(6);
  });

  it('halves on a time-out, too', async () => {
    const { client } = tables(
      sparse,
      () => 1,
      () => new Error('Timeout error.') as ClickHouseError,
    );
    const found = [];
    for await (const at of eachWindow(client, range)) found.push(outline(at));
    expect(found).toEqual(expected);
  });

  it('names the setting that does not allow for one window', async () => {
    const { client } = tables(sparse, () => 0);
    const read = async () => {
      for await (const _ of eachWindow(client, range)) expect.unreachable('it cannot be read');
    };
    await expect(read()).rejects.toThrow(
      'Cannot read for the detector: max_memory_usage must allow for one window of all series ' +
        '(memory limit exceeded: would use 9.00 GiB)',
    );
  });

  it('does not retry after another error', async () => {
    const refused = () =>
      new ClickHouseError({ message: 'not enough privileges', code: '497', type: 'ACCESS_DENIED' });
    const { client, asked } = tables(sparse, () => 0, refused);
    const read = async () => {
      for await (const _ of eachWindow(client, range)) expect.unreachable('it cannot be read');
    };
    await expect(read()).rejects.toThrow('not enough privileges');
    expect(asked).toHaveLength(1);
  });
});

describe('eachBlock', () => {
  it('gives windows of two minutes together', async () => {
    const { client } = tables(sparse, () => 1_000);
    const sizes = [];
    for await (const block of eachBlock(client, range)) sizes.push(block.length);
    expect(sizes).toEqual([12, 12, 12, 12, 12, 12, 12, 12, 4]);
  });

  it('gives fewer together where they have many stages, so that no turn is long', async () => {
    const wide = Array.from({ length: 24 }, (_, n) => windowAt(n, 'wide', 10));
    const { client } = tables(wide, () => 1_000);
    const sizes = [];
    const short = { ...range, toMs: fromMs + 24 * windowMs };
    for await (const block of eachBlock(client, short, { stagesTogether: 40 }))
      sizes.push(block.length);
    expect(sizes).toEqual([4, 4, 4, 4, 4, 4]);
  });
});
