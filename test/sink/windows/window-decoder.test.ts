import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Series, SeriesWindow } from '../../../src/series/series-window.ts';
import { WindowDecoder } from '../../../src/sink/windows/window-decoder.ts';
import { summarizeWindow } from '../../scenarios/summarize-window.ts';
import { encodeWindows } from './encode-windows.ts';
import { decodeWindows } from './read-windows.ts';

const startMs = 1_790_000_000_000;
const windowMs = 10_000;

function windowOf(model: string, at: number, stages: Record<string, number[]>): SeriesWindow {
  const none = { service: '', version: '', request_type: '', region: '', host: '', tenant: '' };
  const series: Series = { ...none, model, cold_start: false };
  return summarizeWindow({
    ...{ series, windowMs, windowStartMs: startMs + at * windowMs },
    stages: new Map(Object.entries(stages)),
  });
}

/** Three windows of two series; the first window lacks one, and one series has no total. */
const windows = [
  windowOf('größe', 0, { forward: [1, 2, 3], total: [4, 5, 600] }),
  windowOf('größe', 1, { forward: [7], queue: [1], total: [9] }),
  windowOf('partial', 1, { features: [3], forward: [5, 6], queue: [1, 2] }),
  windowOf('größe', 2, { total: Array.from({ length: 300 }, (_, n) => n + 1) }),
];
const bytes = encodeWindows(windows);

/** Decodes the bytes in parts that end at the given positions. */
function decodedIn(cuts: readonly number[], decoder = new WindowDecoder(windowMs)) {
  const ends = [...cuts].sort((a, b) => a - b);
  const found = [];
  let from = 0;
  for (const end of [...ends, bytes.length]) {
    found.push(...decoder.decode(bytes.subarray(from, end)));
    from = end;
  }
  return [...found, ...decoder.end()];
}

describe('WindowDecoder', () => {
  it('decodes the same windows wherever the parts of a response end', () => {
    const whole = decodeWindows(bytes, windowMs);
    expect(whole).toEqual(windows);
    const place = fc.integer({ min: 0, max: bytes.length });
    fc.assert(
      fc.property(fc.array(place, { maxLength: 40 }), (cuts) => {
        expect(decodedIn(cuts).flatMap((at) => at.windows)).toEqual(whole);
      }),
      { numRuns: 200 },
    );
    const everywhere = Array.from(bytes.keys());
    expect(decodedIn(everywhere).flatMap((at) => at.windows)).toEqual(whole);
  });

  it('emits a window once its last row has come, with all of its series', () => {
    const found = decodedIn([]);
    expect(found.map((at) => [at.startMs - startMs, at.windows.length])).toEqual([
      [0, 1],
      [10_000, 2],
      [20_000, 1],
    ]);
    const decoder = new WindowDecoder(windowMs);
    const first = encodeWindows(windows.slice(0, 1)).length;
    expect([...decoder.decode(bytes.subarray(0, first))]).toEqual([]);
    const second = encodeWindows(windows.slice(0, 2)).length;
    const [complete, ...others] = decoder.decode(bytes.subarray(first, second));
    expect(complete?.windows).toEqual(windows.slice(0, 1));
    expect(others).toEqual([]);
  });

  it('keeps of an unwanted series only the stage of its whole requests', () => {
    const asked: string[] = [];
    const decoder = new WindowDecoder(windowMs, (series, atMs) => {
      asked.push(`${series.model} ${(atMs - startMs) / windowMs}`);
      return atMs === startMs;
    });
    const found = decodedIn([], decoder).flatMap((at) => at.windows);
    expect(asked).toEqual(['größe 0', 'größe 1', 'partial 1', 'größe 2']);
    const kept = ['total', 'forward', 'total'] as const;
    expect(found[0]).toEqual(windows[0]);
    for (const [n, stage] of kept.entries()) {
      const summary = windows[n + 1]?.stages.get(stage);
      const [only, ...others] = found[n + 1]?.stages.values() ?? [];
      expect(others).toEqual([]);
      expect(only).toMatchObject({ stage, requests: summary?.requests, bands: summary?.bands });
      expect(only?.digest.means).toEqual(summary?.digest.means);
    }
    expect(decoder.rows).toBe(9);
  });

  it('keeps counts of objectives apart, and of an unwanted series also the stages that it always wants', () => {
    const stages = { forward: [5, 6], queue: [1, 2], total: [7, 8], zoo: [9, 9, 9] };
    const objectives = new Map([
      ['objective: queue<=1', { requests: 2, bad: 1 }],
      ['objective: total<=9', { requests: 2, bad: 0 }],
    ]);
    const given = [
      { ...windowOf('a', 0, stages), objectives },
      windowOf('b', 0, { forward: [5, 6], queue: [1, 2], zoo: [9, 9, 9] }),
    ];
    expect(decodeWindows(encodeWindows(given), windowMs)).toEqual(given);
    const decoder = new WindowDecoder(windowMs, () => false, ['queue']);
    const found = [...decoder.decode(encodeWindows(given)), ...decoder.end()];
    const [a, b] = found.flatMap((at) => at.windows);
    expect(a?.objectives).toEqual(objectives);
    expect([...(a?.stages.keys() ?? [])]).toEqual(['queue', 'total']);
    expect(b?.objectives).toBeUndefined();
    expect([...(b?.stages.keys() ?? [])]).toEqual(['queue', 'zoo']);
    expect(a?.stages.get('queue')?.digest.means).toEqual(
      given[0]?.stages.get('queue')?.digest.means,
    );
  });

  it('reads a window only when those before it have been consumed', () => {
    const handed: number[] = [];
    const decoder = new WindowDecoder(windowMs, (_, atMs) => {
      expect(handed).toEqual([0, 1, 2].slice(0, (atMs - startMs) / windowMs));
      return true;
    });
    for (const at of decoder.decode(bytes)) handed.push((at.startMs - startMs) / windowMs);
    handed.push(...[...decoder.end()].map((at) => (at.startMs - startMs) / windowMs));
    expect(handed).toEqual([0, 1, 2]);
  });

  it('reports a response that ends within a row', () => {
    const decoder = new WindowDecoder(windowMs);
    const found = [...decoder.decode(bytes.subarray(0, bytes.length - 1))];
    expect(found).toHaveLength(1);
    expect(() => [...decoder.end()]).toThrow(/ends within a row/);
  });
});
