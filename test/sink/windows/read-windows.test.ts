import { describe, expect, it } from 'vitest';
import { emptySeries, type Series, type SeriesWindow } from '../../../src/series/series-window.ts';
import { summarizeWindow } from '../../scenarios/summarize-window.ts';
import { encodeWindows } from './encode-windows.ts';
import { decodeWindows } from './read-windows.ts';

const startMs = 1_790_000_000_000;
const plain: Series = { ...emptySeries, model: 'ranker' };

function windowOf(windowStartMs: number, series: Series, values: readonly number[]): SeriesWindow {
  const stages = new Map([
    ['forward', values.map((ms) => ms / 2)],
    ['total', values],
  ]);
  return summarizeWindow({ series, windowStartMs, windowMs: 10_000, stages });
}

describe('decodeWindows', () => {
  it('gives each series of each window, with all its stages', () => {
    const cold = { ...plain, cold_start: true };
    const full = {
      service: 'rank-api',
      model: 'größe',
      version: '2',
      request_type: 'search',
      region: 'eu',
      host: 'pod-1',
      tenant: 'a',
      cold_start: false,
    };
    const windows = [
      windowOf(startMs, plain, [1, 2, 3, 500]),
      windowOf(startMs, cold, [4]),
      windowOf(startMs, full, [0]),
      windowOf(startMs + 10_000, full, [7, 9]),
    ];
    const decoded = decodeWindows(encodeWindows(windows), 10_000);
    expect(decoded).toEqual(windows);
    for (const { stages } of decoded) {
      expect(new Set([...stages.values()].map(({ digest }) => digest.centroids)).size).toBe(1);
    }
  });

  it('keeps series apart whose values would read the same in a row', () => {
    const one = { ...plain, service: 'a', model: 'b' };
    const other = { ...plain, service: '', model: 'ab' };
    const windows = [windowOf(startMs, one, [1]), windowOf(startMs, other, [2])];
    expect(decodeWindows(encodeWindows(windows), 10_000)).toHaveLength(2);
  });

  it('keeps errors, timeouts and cancelled requests', () => {
    const window = windowOf(startMs, plain, [1, 2, 3]);
    const total = window.stages.get('total');
    if (total === undefined) throw new Error('no total');
    const counts = { requests: 2 ** 40, errors: 3, timeouts: 2, cancelled: 1 };
    const stages = new Map([['total', { ...total, ...counts }]]);
    const decoded = decodeWindows(encodeWindows([{ ...window, stages }]), 10_000);
    expect(decoded[0]?.stages.get('total')).toMatchObject(counts);
  });

  it('of no bytes are no windows; truncated bytes are an error', () => {
    expect(decodeWindows(Buffer.alloc(0), 10_000)).toEqual([]);
    const bytes = encodeWindows([windowOf(startMs, plain, [1, 2, 3])]);
    expect(() => decodeWindows(bytes.subarray(0, bytes.length - 1), 10_000)).toThrow(RangeError);
  });
});
