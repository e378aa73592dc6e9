import { describe, expect, it } from 'vitest';
import { MemoryWindows } from '../../src/backtest/memory-windows.ts';
import { limits } from '../../src/base/limits.ts';
import { configSchema } from '../../src/config/schema.ts';
import type { SeriesWindow } from '../../src/series/series-window.ts';
import type { WindowsAt } from '../../src/sink/windows/each-window.ts';
import { summarizeWindow } from '../scenarios/summarize-window.ts';
import { encodeWindows } from '../sink/windows/encode-windows.ts';
import { decodeWindows } from '../sink/windows/read-windows.ts';

const config = configSchema.parse({});
const startMs = 1_790_000_000_000;

const text = (event: object) => Buffer.from(JSON.stringify(event));
/** An event of a request that ends at this time. */
const eventAt = (ms: number, model: string, features: number, forward: number) => ({
  ts: startMs + ms - features - forward,
  ...{ model, version: '7', region: 'eu-west-1' },
  stages_ms: { features, forward },
});

/** Events that wait for others to show that their clock was right. */
const held = 50;

function all(memory: MemoryWindows): WindowsAt[] {
  return [...memory.complete(true)];
}

/** Expected summary, as of `summarizeWindow`, where every value is kept. */
function expected(atMs: number, model: string, pairs: readonly (readonly [number, number])[]) {
  return summarizeWindow({
    series: {
      ...{ service: '', model, version: '7', request_type: '', region: 'eu-west-1' },
      ...{ host: '', tenant: '', cold_start: false },
    },
    windowStartMs: startMs + atMs,
    windowMs: config.detect.window,
    stages: new Map([
      ['features', pairs.map(([features]) => features)],
      ['forward', pairs.map(([, forward]) => forward)],
      ['total', pairs.map(([features, forward]) => features + forward)],
    ]),
  });
}

/** Stages in any order. */
const plain = ({ stages, ...window }: SeriesWindow) => ({
  ...window,
  stages: new Map([...stages].sort(([a], [b]) => (a < b ? -1 : 1))),
});

describe('windows in memory', () => {
  it('are what the tables would give of the same events, series by series', () => {
    const memory = new MemoryWindows(config);
    memory.consume(text(eventAt(0, 'a', 1, 20)));
    memory.consume(text(eventAt(9_999, 'a', 2, 30)));
    memory.consume(text(eventAt(5_000, 'b', 4, 8)));
    memory.consume(text(eventAt(30_000, 'a', 3, 40)));
    const found = all(memory);
    expect(found.map(({ startMs: at, windows }) => [at - startMs, windows.length])).toEqual([
      [0, 2],
      [10_000, 0],
      [20_000, 0],
      [30_000, 1],
    ]);
    expect(found.flatMap(({ windows }) => windows.map(plain))).toEqual(
      [
        expected(0, 'a', [
          [1, 20],
          [2, 30],
        ]),
        expected(0, 'b', [[4, 8]]),
        expected(30_000, 'a', [[3, 40]]),
      ].map(plain),
    );
    expect(memory.counts).toEqual({ events: 4, rejected: 0, late: 0 });
  });

  it('from several chunks are merged, and released once no more can arrive', () => {
    const memory = new MemoryWindows(config);
    const count = 60_000;
    for (let n = 0; n < count; n++) memory.consume(text(eventAt(n * 4, 'a', 1 + (n % 50), 20)));
    const early = [...memory.complete()];
    // Sealed at 50,000 events, 200 s; released a minute later.
    expect(early).toEqual([]);
    for (let n = count; n < 100_000 + held; n++)
      memory.consume(text(eventAt(n * 4, 'a', 1 + (n % 50), 20)));
    const first = [...memory.complete()];
    expect(first.map(({ startMs: at }) => (at - startMs) / 10_000)).toEqual(
      Array.from({ length: 33 }, (_, n) => n),
    );
    // Its window is released already.
    memory.consume(text(eventAt(5_000, 'a', 1, 1)));
    const rest = all(memory);
    expect(rest).toHaveLength(8);
    expect(rest.pop()?.windows[0]?.stages.get('total')?.requests).toBe(held);
    const totals = [...first, ...rest].map(({ windows }) => windows[0]?.stages.get('total'));
    expect(totals.map((total) => total?.requests)).toEqual(new Array(40).fill(2_500));
    expect(totals.map((total) => total?.sumMs)).toEqual(new Array(40).fill(2_500 * 45.5));
    expect(totals[20]?.digest.quantile(0.5)).toBeCloseTo(45, -1);
    // Merged ones stay within the limits of the tables.
    const windows = [...first, ...rest].flatMap((one) => one.windows);
    expect(decodeWindows(encodeWindows(windows), config.detect.window)).toEqual(windows);
    expect(memory.counts).toEqual({ events: 100_001 + held, rejected: 0, late: 1 });
  });

  it('have no gaps between tokens, which are no requests, unless they are asked for', () => {
    const events = Array.from({ length: 500 }, (_, n) => eventAt(n * 100, 'a', 1, n % 40));
    const windowsOf = (sent: readonly object[], options?: { gaps: boolean }) => {
      const memory = new MemoryWindows(config, options);
      for (const each of sent) memory.consume(text(each));
      return all(memory);
    };
    const withGaps = events.map((each) => ({ ...each, itl_ms: [20, 21, 700] }));
    const plainWindows = windowsOf(events);
    expect(windowsOf(withGaps)).toEqual(plainWindows);
    const stages = windowsOf(withGaps, { gaps: true }).flatMap(({ windows }) =>
      windows.map((window) => window.stages.get('inter_token_latency')?.requests ?? 0),
    );
    expect(stages.reduce((sum, n) => sum + n, 0)).toBe(1_500);
  });

  it('count a request when it ends, and lose none that started long before', () => {
    const memory = new MemoryWindows(config);
    for (let n = 0; n < 50_000 + held; n++) memory.consume(text(eventAt(n * 10, 'a', 1, 20)));
    // All but the last minute is released.
    expect([...memory.complete()]).toHaveLength(43);
    // Started in a window that is released already.
    memory.consume(text(eventAt(499_000, 'a', 1, 359_999)));
    const last = all(memory).at(-2);
    expect(last?.startMs).toBe(startMs + 490_000);
    expect(last?.windows[0]?.stages.get('total')).toMatchObject({
      requests: 1_001,
      maxMs: 360_000,
    });
    expect(memory.counts).toEqual({ events: 50_001 + held, rejected: 0, late: 0 });
  });

  it('count requests that take longer than all that begin after them, in the order of starts', () => {
    const memory = new MemoryWindows(config);
    let counted = 0;
    const count = (isOver: boolean) => {
      for (const { windows } of memory.complete(isOver)) {
        for (const { stages } of windows) counted += stages.get('total')?.requests ?? 0;
      }
    };
    for (let n = 0; n < 2_000; n++) {
      const total_ms = n % 50 === 0 ? 600_000 : 1_000;
      memory.consume(text({ ts: startMs + 500 * n, model: 'a', total_ms }));
      count(false);
    }
    count(true);
    expect([counted, memory.counts]).toEqual([2_000, { events: 2_000, rejected: 0, late: 0 }]);
  });

  it('are those of the others where one clock is wrong, behind or ahead', () => {
    const windowsOf = (oddAt: number, oddMs: number) => {
      const memory = new MemoryWindows(config);
      for (let n = 0; n < 1_000; n++) {
        if (n === oddAt) memory.consume(text(eventAt(oddMs, 'odd', 1, 2)));
        memory.consume(text(eventAt(n * 1_000, 'a', 1, 20)));
      }
      const { length, ...counted } = all(memory).flatMap(({ windows }) =>
        windows.filter(({ series }) => series.model === 'a').map(plain),
      );
      return { windows: length, counted, counts: memory.counts };
    };
    const none = windowsOf(-1, 0);
    expect(none.windows).toBe(100);
    const day = 86_400_000;
    // A day before the first event is a time without traffic; 26 years are left out.
    for (const behindMs of [-day, -26 * 365 * day]) {
      const counts = { events: 1_001, rejected: 0, late: 0 };
      expect(windowsOf(0, behindMs)).toEqual({ ...none, counts });
    }
    for (const aheadMs of [day, 73 * 365 * day]) {
      const counts = { events: 1_001, rejected: 1, late: 0 };
      for (const at of [0, 125, 997]) {
        expect(windowsOf(at, aheadMs)).toEqual({ ...none, counts });
      }
    }
  });

  it('count lines that are no events, and partly read ones', () => {
    const memory = new MemoryWindows(config);
    memory.consume(Buffer.from('{"ts":1'));
    memory.refuse('The line is too long');
    memory.consume(null);
    expect(all(memory)).toEqual([]);
    expect(memory.counts).toEqual({ events: 3, rejected: 3, late: 0 });
  });

  it('are as long as the detector evaluates them', () => {
    const minute = configSchema.parse({ detect: { window: '1m' } });
    const memory = new MemoryWindows(minute);
    const wholeMs = Math.ceil(startMs / 60_000) * 60_000 - startMs;
    for (const ms of [0, 30_000, 59_999, 60_000]) {
      memory.consume(text(eventAt(wholeMs + ms, 'a', 1, 2)));
    }
    const found = all(memory).map(({ windows }) => windows[0]?.stages.get('total')?.requests);
    expect(found).toEqual([3, 1]);
  });

  it('hold a recording of more windows than a chunk may have', () => {
    const memory = new MemoryWindows(config);
    const windows = limits.windowsPerChunk + 500;
    let evaluated = 0;
    for (let i = 0; i < windows; i++) {
      memory.consume(text(eventAt(i * config.detect.window, 'a', 1, 20)));
      evaluated += [...memory.complete()].length;
    }
    evaluated += all(memory).length;
    expect(memory.counts).toEqual({ events: windows, rejected: 0, late: 0 });
    expect(evaluated).toBe(windows);
  });
});
