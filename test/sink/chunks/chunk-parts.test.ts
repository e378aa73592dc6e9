import { describe, expect, it } from 'vitest';
import { chunkParts } from '../../../src/sink/chunks/chunk-parts.ts';

const dayOf = (text: string) => Date.parse(`${text}T00:00:00Z`) / 86_400_000;
const secondOf = (text: string) => Date.parse(`${text}T00:00:00Z`) / 1000;

describe('chunkParts', () => {
  it('has one for each partition of each table that the kinds of rows go to', () => {
    const days = {
      stage: ['2026-12-31', '2027-01-01', '2026-12-02'].map(dayOf),
      driver: [dayOf('2027-01-01')],
      exemplar: [],
    };
    const parts = chunkParts(days).map(({ table, kind, fromS, toS }) => [table, kind, fromS, toS]);
    expect(parts).toEqual([
      ['chunk_landings', undefined, 0, 2 ** 32 - 1],
      ['latency_10s', 'stage', secondOf('2026-12-31'), secondOf('2027-01-01')],
      ['latency_10s', 'stage', secondOf('2027-01-01'), secondOf('2027-01-02')],
      ['latency_10s', 'stage', secondOf('2026-12-02'), secondOf('2026-12-03')],
      ['latency_1m', 'stage', secondOf('2026-12-31'), secondOf('2027-01-01')],
      ['latency_1m', 'stage', secondOf('2027-01-01'), secondOf('2027-01-02')],
      ['latency_1m', 'stage', secondOf('2026-12-02'), secondOf('2026-12-03')],
      ['latency_1h', 'stage', secondOf('2026-12-01'), secondOf('2027-01-01')],
      ['latency_1h', 'stage', secondOf('2027-01-01'), secondOf('2027-02-01')],
      ['latency_1d', 'stage', secondOf('2026-01-01'), secondOf('2027-01-01')],
      ['latency_1d', 'stage', secondOf('2027-01-01'), secondOf('2028-01-01')],
      ['drivers_1m', 'driver', secondOf('2027-01-01'), secondOf('2027-01-02')],
    ]);
  });

  it('ends at the limit of a DateTime', () => {
    const last = Math.floor((2 ** 32 - 1) / 86_400);
    const parts = chunkParts({ stage: [last], driver: [], exemplar: [] });
    expect(parts.map(({ toS }) => toS)).toEqual(new Array(5).fill(2 ** 32 - 1));
  });
});
