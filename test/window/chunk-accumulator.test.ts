import { describe, expect, it } from 'vitest';
import { dimensions } from '../../src/base/dimensions.ts';
import { outcomes } from '../../src/window/outcome.ts';
import { SeededRandom } from '../base/seeded-random.ts';
import { type RandomEventsOptions, randomEvents, withRandomGaps } from './random-events.ts';
import { referenceChunk, totalOf } from './reference-chunk.ts';
import { TestChunk } from './test-chunk.ts';
import type { TimingEventText } from './timing-event-text.ts';

const startMs = 1_790_000_000_000;
const spread: RandomEventsOptions = { fromMs: startMs, stepMs: 40, jitterMs: 30_000 };
/** An event of a request of 4 ms that ends at this time. */
const whole = (endMs: number, more: Partial<TimingEventText> = {}): TimingEventText => ({
  ts: endMs - 4,
  model: 'm',
  stages_ms: { forward: 3, queue: 1 },
  ...more,
});

describe('a chunk against the reference', () => {
  const cases = [
    { name: 'few dimensions', enabled: ['model', 'region', 'cold_start'] },
    { name: 'every dimension', enabled: dimensions },
    { name: 'the model alone', enabled: ['model'] },
  ] as const;
  for (const { name, enabled } of cases) {
    it.each([1, 2, 3, 4])(`counts, sums and extremes are exact: ${name}, seed %i`, (seed) => {
      const random = new SeededRandom(seed);
      const events = withRandomGaps(randomEvents(random, 1_500, spread), seed);
      const bounds = { allowedLatenessMs: 15_000, maxFutureMs: 1_000, graceMs: 3_000 };
      const nowMs = startMs + 50_000;
      const chunk = new TestChunk({ dimensions: enabled, ...bounds });
      chunk.begin(Number.NEGATIVE_INFINITY, nowMs).add(...events);
      const reference = referenceChunk(events, {
        dimensions: enabled,
        ...bounds,
        nowMs,
        watermarkMs: Number.NEGATIVE_INFINITY,
      });
      for (const count of Object.values(reference.counts)) expect(count).toBeGreaterThan(0);
      expect(chunk.accumulator.counts).toEqual({
        ...reference.counts,
        overflow: 0,
        weight: reference.counts.aggregated,
      });
      expect(chunk.accumulator.watermarkMs).toBe(reference.watermarkMs);
      const rows = chunk.rows();
      expect([...rows.keys()].sort()).toEqual([...reference.rows.keys()].sort());
      for (const [key, expected] of reference.rows) {
        const { wholeMs: _, ...exact } = expected;
        expect(rows.get(key), key).toEqual(exact);
      }
    });
  }

  it('is exact where a series has more stages than one block holds, and a chunk more than the lookup table', () => {
    const random = new SeededRandom(11);
    const events = withRandomGaps(randomEvents(random, 600, spread), 11).map((event) => {
      // Names of 90 stages occur, 40 of them in each series.
      const own = `${event.model === 'm1' ? 0 : 50}`;
      const names = Array.from({ length: 6 }, () => `s${Number(own) + random.between(0, 39)}`);
      const more = Object.fromEntries(names.map((stage) => [stage, random.between(1, 9_000) / 8]));
      return { ...event, stages_ms: { ...event.stages_ms, ...more } };
    });
    const options = { dimensions: ['model'] as const, allowedLatenessMs: 1e9, maxFutureMs: 1e9 };
    const chunk = new TestChunk({ ...options, graceMs: 0 }).begin();
    chunk.add(...events);
    const ends = { graceMs: 0, nowMs: 1_800_000_000_000, watermarkMs: Number.NEGATIVE_INFINITY };
    const reference = referenceChunk(events, { ...options, ...ends });
    const rows = chunk.rows();
    expect([...rows.keys()].sort()).toEqual([...reference.rows.keys()].sort());
    for (const [key, { wholeMs: _, ...exact }] of reference.rows) {
      expect(rows.get(key), key).toEqual(exact);
    }
  });

  it('the bands of a stage add up to its milliseconds over requests with a total', () => {
    const events = randomEvents(new SeededRandom(7), 2_000, spread);
    const chunk = new TestChunk().begin();
    chunk.add(...events);
    let summed = 0;
    for (const [key, row] of chunk.rows()) {
      if (key.endsWith('|total')) {
        expect(sum(row.bands)).toBe(row.requests);
        expect(sum(row.bandsMs)).toBeCloseTo(row.sumUs / 1000, 6);
      } else {
        summed += sum(row.bands);
      }
    }
    const expected = events
      .filter((event) => totalOf(event) !== undefined)
      .flatMap((event) => Object.values(event.stages_ms ?? {}))
      .reduce((total, ms) => total + ms, 0);
    expect(summed).toBeCloseTo(expected, 4);
  });
});

describe('an event', () => {
  it('that is partial counts in its stages, in no band and no total', () => {
    const chunk = new TestChunk().begin();
    chunk.add(whole(startMs, { partial: true, status: 'timeout' }));
    const rows = [...chunk.rows()];
    expect(rows.map(([key]) => key.split('|').at(-1))).toEqual(['forward', 'queue']);
    for (const [, row] of rows) {
      expect(row).toMatchObject({ requests: 1, timeouts: 1, bands: new Map() });
    }
    expect(chunk.accumulator.drivers.size).toBe(0);
    expect([...chunk.accumulator.exemplars.all()]).toEqual([]);
  });

  it('with a total alone has one row', () => {
    const chunk = new TestChunk().begin();
    chunk.add({ ts: startMs, model: 'm', total_ms: 2 });
    expect([...chunk.rows().values()]).toMatchObject([
      { requests: 1, sumUs: 2_000, bands: new Map([[4, 1]]), bandsMs: new Map([[4, 2]]) },
    ]);
  });

  it('of no milliseconds still is a request of the lowest band', () => {
    const chunk = new TestChunk().begin();
    chunk.add({ ts: startMs, model: 'm', total_ms: 0 });
    expect([...chunk.rows().values()]).toMatchObject([
      { requests: 1, sumUs: 0, minMs: 0, maxMs: 0, bands: new Map([[-80, 1]]) },
    ]);
  });

  it('ends ok, in error, in a timeout or cancelled: each counted on all its rows', () => {
    const chunk = new TestChunk().begin();
    for (const status of ['ok', 'error', 'error', 'timeout', 'cancelled'] as const) {
      chunk.add(whole(startMs, { status }));
    }
    const rows = [...chunk.rows().values()];
    expect(rows).toHaveLength(3);
    for (const row of rows) {
      expect(row).toMatchObject({ requests: 5, errors: 2, timeouts: 1, cancelled: 1 });
    }
  });

  it('on the edge of a window belongs to the later one', () => {
    const chunk = new TestChunk().begin();
    chunk.add(whole(startMs - 1), whole(startMs), whole(startMs + 9_999));
    const totals = [...chunk.rows()].filter(([key]) => key.endsWith('|total'));
    expect(totals.map(([key, row]) => [Number(key.split('|')[0]), row.requests])).toEqual([
      [startMs - 10_000, 1],
      [startMs, 2],
    ]);
  });
});

describe('a request', () => {
  /** Window of its rows by stage, minute of its drivers, start of its exemplar. */
  const placesOf = (event: TimingEventText) => {
    const chunk = new TestChunk().begin();
    expect(chunk.add({ host: 'pod-1', ...event })).toEqual([outcomes.aggregated]);
    const windows = [...chunk.rows().keys()].map((key) => Number(key.split('|')[0]));
    const { drivers, exemplars, watermarkMs } = chunk.accumulator;
    return {
      windowMs: [...new Set(windows)],
      watermarkMs,
      minute: drivers.size === 0 ? undefined : drivers.minute(0),
      exemplarTsMs: [...exemplars.all()].map(({ tsMs }) => tsMs),
    };
  };
  const minuteOf = (ms: number) => Math.floor(ms / 60_000);

  it('counts when it ends: the window, the watermark and the minute go by that, its exemplar keeps the start', () => {
    // Starts in a window and a minute, ends in others.
    const ts = startMs - 20_001;
    expect(placesOf({ ts, model: 'm', total_ms: 35_000.9, stages_ms: { forward: 1 } })).toEqual({
      windowMs: [startMs + 10_000],
      watermarkMs: startMs + 14_999,
      minute: minuteOf(startMs + 14_999),
      exemplarTsMs: [ts],
    });
    expect(minuteOf(ts)).not.toBe(minuteOf(startMs + 14_999));
  });

  it('without a given total ends after its stages, also in an event of some of them', () => {
    const stages_ms = { queue: 4_000.5, forward: 6_000.5 };
    const event = { ts: startMs - 1_002, model: 'm', stages_ms };
    const [windowMs, watermarkMs] = [[startMs], startMs + 8_999];
    expect(placesOf(event)).toMatchObject({ windowMs, watermarkMs, exemplarTsMs: [event.ts] });
    expect(placesOf({ ...event, partial: true })).toMatchObject({ windowMs, watermarkMs });
    // A given total counts, for any stages.
    expect(placesOf({ ...event, partial: true, total_ms: 1_001 })).toMatchObject({
      windowMs: [startMs - 10_000],
      watermarkMs: startMs - 1,
    });
  });

  it('is late, future or a late merge by its end, however long ago it started', () => {
    const bounds = { allowedLatenessMs: 60_000, maxFutureMs: 5_000, graceMs: 2_000 };
    const chunk = new TestChunk(bounds).begin(startMs, startMs);
    const lasting = (endMs: number) => ({ ts: endMs - 600_000, model: 'm', total_ms: 600_000 });
    expect(
      chunk.add(lasting(startMs), lasting(startMs - 60_001), lasting(startMs + 5_001)),
    ).toEqual([outcomes.aggregated, outcomes.late, outcomes.future]);
    expect(chunk.accumulator.counts).toMatchObject({ aggregated: 1, lateMerged: 0 });
  });
});

describe('the watermark', () => {
  const bounds = { allowedLatenessMs: 60_000, maxFutureMs: 5_000 };

  it('accepts an event of exactly the allowed lateness, and none a millisecond later', () => {
    const chunk = new TestChunk(bounds).begin(startMs, startMs);
    expect(chunk.add(whole(startMs - 60_000), whole(startMs - 60_001))).toEqual([
      outcomes.aggregated,
      outcomes.late,
    ]);
    const counts = { aggregated: 1, overflow: 0, late: 1, future: 0, lateMerged: 1, weight: 1 };
    expect(chunk.accumulator.counts).toEqual(counts);
  });

  it('accepts an event exactly as far ahead of the clock as allowed, and none a millisecond further', () => {
    const chunk = new TestChunk(bounds).begin(startMs, startMs);
    expect(chunk.add(whole(startMs + 5_001), whole(startMs + 5_000))).toEqual([
      outcomes.future,
      outcomes.aggregated,
    ]);
    expect(chunk.accumulator.watermarkMs).toBe(startMs + 5_000);
  });

  it('makes an event a late merge when its window has passed by the grace', () => {
    const chunk = new TestChunk({ ...bounds, graceMs: 2_000 });
    const lateMerged = (watermarkMs: number, ...events: TimingEventText[]) => {
      chunk.begin(watermarkMs, startMs + 200_000).add(...events);
      return chunk.accumulator.counts.lateMerged;
    };
    // The window begins at startMs and ends 10 s later.
    expect(lateMerged(startMs + 11_999, whole(startMs), whole(startMs + 9_999))).toBe(0);
    expect(lateMerged(startMs + 12_000, whole(startMs), whole(startMs + 9_999))).toBe(2);
    expect(lateMerged(startMs + 12_000, whole(startMs + 10_000))).toBe(0);
    // An event that moves the watermark is on time, and makes the next one late.
    expect(lateMerged(startMs, whole(startMs + 12_000), whole(startMs + 1))).toBe(1);
    // A producer's fast clock makes no other event late: the watermark counts up to the clock.
    expect(lateMerged(startMs + 400_000, whole(startMs + 189_999))).toBe(1);
    expect(lateMerged(startMs + 400_000, whole(startMs + 190_000))).toBe(0);
    // Uncounted events are no merges.
    expect(lateMerged(startMs + 200_000, whole(startMs))).toBe(0);
    expect(lateMerged(Number.NEGATIVE_INFINITY, whole(startMs))).toBe(0);
  });

  it('never falls, and rejected events do not move it', () => {
    const chunk = new TestChunk(bounds).begin(startMs, startMs);
    chunk.add(whole(startMs - 30_000));
    expect(chunk.accumulator.watermarkMs).toBe(startMs);
    chunk.add(whole(startMs + 999_999), whole(startMs - 999_999));
    expect(chunk.accumulator.watermarkMs).toBe(startMs);
    chunk.add(whole(startMs + 1));
    expect(chunk.accumulator.watermarkMs).toBe(startMs + 1);
  });

  it('of a new partition holds nothing back', () => {
    const chunk = new TestChunk(bounds).begin(Number.NEGATIVE_INFINITY, startMs);
    expect(chunk.add(whole(1_000_000_000_000))).toEqual([outcomes.aggregated]);
  });
});

describe('a series', () => {
  it('that is cold never mixes with a warm one, also beyond the limit', () => {
    const chunk = new TestChunk({ maxCells: 2, dimensions: ['model', 'cold_start'] }).begin();
    for (const model of ['a', 'b', 'c', 'd']) {
      chunk.add(whole(startMs, { model }), whole(startMs, { model, cold_start: true }));
    }
    const totals = [...chunk.rows()].filter(([key]) => key.endsWith('|total'));
    expect(totals.map(([key, row]) => [key, row.requests])).toEqual([
      [`${startMs}||a|||||||total`, 1],
      [`${startMs}||a||||||1|total`, 1],
      [`${startMs}||__other__|||||||total`, 3],
      [`${startMs}||__other__||||||1|total`, 3],
    ]);
  });

  it('is separated by the enabled dimensions, and by no other', () => {
    const chunk = new TestChunk({ dimensions: ['model'] }).begin();
    chunk.add(
      whole(startMs, { region: 'eu', cold_start: true, tenant: 'x', host: 'h' }),
      whole(startMs, { region: 'us', version: '2', service: 's' }),
    );
    expect([...chunk.rows().keys()]).toEqual([
      `${startMs}||m|||||||forward`,
      `${startMs}||m|||||||queue`,
      `${startMs}||m|||||||total`,
    ]);
  });

  it.each([5, 6, 7])('beyond the limit goes to __other__, with exact totals: seed %i', (seed) => {
    const random = new SeededRandom(seed);
    const events = randomEvents(random, 1_000, { ...spread, models: 40 });
    const chunk = new TestChunk({ maxCells: 25, dimensions: ['model', 'region'] }).begin();
    const became = chunk.add(...events);
    const { aggregated, overflow } = chunk.accumulator.counts;
    expect(became.filter((outcome) => outcome === outcomes.overflow)).toHaveLength(overflow);
    expect(overflow).toBeGreaterThan(100);
    expect(aggregated + overflow).toBe(1_000);
    let requests = 0;
    let sumUs = 0;
    let requestsOfOther = 0;
    for (const [key, row] of chunk.rows()) {
      if (!key.endsWith('|total')) continue;
      requests += row.requests;
      sumUs += row.sumUs;
      const [, , model, , , region] = key.split('|');
      expect(model === '__other__').toBe(region === '__other__');
      if (model === '__other__') requestsOfOther += row.requests;
    }
    const totals = events.map(totalOf).filter((ms) => ms !== undefined);
    expect(requests).toBe(totals.length);
    expect(sumUs).toBe(totals.reduce((sum, ms) => sum + Math.round(ms * 1000), 0));
    const overflowed = events.filter((_, i) => became[i] === outcomes.overflow);
    expect(requestsOfOther).toBe(overflowed.filter((e) => totalOf(e) !== undefined).length);
  });
});

describe('begin', () => {
  it('makes a chunk read twice count the same', () => {
    const events = randomEvents(new SeededRandom(11), 1_000, spread);
    const chunk = new TestChunk({ allowedLatenessMs: 15_000, maxFutureMs: 1_000 });
    const read = () => {
      chunk.begin(startMs - 5_000, startMs + 20_000).add(...events);
      const { counts, rowCount, watermarkMs } = chunk.accumulator;
      const exemplars = [...chunk.accumulator.exemplars.all()];
      return { rows: chunk.rows(), counts: { ...counts }, rowCount, watermarkMs, exemplars };
    };
    const first = read();
    expect(first.rows.size).toBeGreaterThan(50);
    expect(read()).toEqual(first);
    expect(read()).toEqual(first);
  });

  it('leaves nothing of the chunk before', () => {
    const chunk = new TestChunk({ maxCells: 30, dimensions: dimensions }).begin();
    chunk.add(...randomEvents(new SeededRandom(12), 2_000, { ...spread, models: 50 }));
    chunk.begin(Number.NEGATIVE_INFINITY, startMs);
    const { accumulator } = chunk;
    expect(accumulator.rowCount).toBe(0);
    expect(accumulator.cellCount).toBe(0);
    const none = { aggregated: 0, overflow: 0, late: 0, future: 0, lateMerged: 0, weight: 0 };
    expect(accumulator.counts).toEqual(none);
    expect(accumulator.watermarkMs).toBe(Number.NEGATIVE_INFINITY);
    expect([...accumulator.exemplars.all()]).toEqual([]);
    const events = randomEvents(new SeededRandom(13), 300, { ...spread, models: 2 });
    chunk.add(...events);
    const fresh = new TestChunk({ maxCells: 30, dimensions: dimensions });
    fresh.begin(Number.NEGATIVE_INFINITY, startMs).add(...events);
    expect(chunk.rows()).toEqual(fresh.rows());
    expect(accumulator.counts).toEqual(fresh.accumulator.counts);
    expect(accumulator.drivers.size).toBe(fresh.accumulator.drivers.size);
  });
});

function sum(amounts: ReadonlyMap<number, number>): number {
  return [...amounts.values()].reduce((total, amount) => total + amount, 0);
}
