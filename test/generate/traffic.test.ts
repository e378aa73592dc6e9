import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { minuteMs } from '../../src/base/time.ts';
import { timingEvent } from '../../src/decode/timing-event.ts';
import { defaultFleet } from '../../src/generate/default-fleet.ts';
import type { TimingEventJson } from '../../src/generate/timing-event-json.ts';
import { generateTraffic, type TrafficOptions } from '../../src/generate/traffic.ts';

const START_MS = Date.UTC(2026, 10, 2, 9);

function traffic(options: Partial<TrafficOptions> = {}): TimingEventJson[] {
  return [
    ...generateTraffic({
      seed: 1,
      startMs: START_MS,
      durationMs: minuteMs,
      ratePerSecond: 200,
      ...options,
    }),
  ];
}

function hashOf(events: readonly TimingEventJson[]): string {
  const hash = createHash('sha256');
  for (const event of events) hash.update(JSON.stringify(event)).update('\n');
  return hash.digest('hex');
}

function shareOf<T>(items: readonly T[], isOne: (item: T) => boolean): number {
  return items.filter(isOne).length / items.length;
}

function correlation(xs: readonly number[], ys: readonly number[]): number {
  const mean = (values: readonly number[]) =>
    values.reduce((sum, value) => sum + value, 0) / values.length;
  const [mx, my] = [mean(xs), mean(ys)];
  const cross = (as: readonly number[], ma: number, bs: readonly number[], mb: number) =>
    as.reduce((sum, a, i) => sum + (a - ma) * ((bs[i] as number) - mb), 0);
  return cross(xs, mx, ys, my) / Math.sqrt(cross(xs, mx, xs, mx) * cross(ys, my, ys, my));
}

// One long run that the statistics share: some 120,000 events.
let long: TimingEventJson[] = [];
beforeAll(() => {
  long = traffic({ durationMs: 10 * minuteMs });
});
// Later files of the worker need the memory.
afterAll(() => {
  long = [];
});

describe('generateTraffic', () => {
  it('gives the same bytes for the same seed, other bytes for another', () => {
    const first = hashOf(traffic());
    expect(hashOf(traffic())).toBe(first);
    expect(hashOf(traffic({ seed: 2 }))).not.toBe(first);
    expect(hashOf(traffic({ seed: '1' }))).toBe(first);
  });

  it('begins a longer run with the events of a shorter one', () => {
    const short = traffic({ durationMs: 10_000 });
    expect(hashOf(traffic().slice(0, short.length))).toBe(hashOf(short));
  });

  it('keeps the contract of timing events in every event', () => {
    const contract = timingEvent({ maxDurationMs: 3_600_000, maxDimensionBytes: 256 });
    for (const event of traffic()) {
      const text = JSON.stringify(event);
      const result = contract.safeParse(JSON.parse(text));
      if (!result.success) throw new Error(`${result.error.message} in ${text}`);
    }
  });

  it('is in order of ts, and each total is exactly the sum of its stages', () => {
    let beforeMs = START_MS;
    const wrong: TimingEventJson[] = [];
    for (const event of long) {
      const inOrder = event.ts >= beforeMs;
      beforeMs = event.ts;
      const stages = Object.values(event.stages_ms);
      const micros = stages.map((ms) => Math.round(ms * 1_000));
      const isSum = micros.reduce((sum, value) => sum + value, 0) / 1_000 === event.total_ms;
      const isRounded = stages.every((ms, i) => (micros[i] as number) / 1_000 === ms);
      if (!inOrder || !isSum || !isRounded) wrong.push(event);
    }
    expect(long.length).toBeGreaterThan(90_000);
    expect(wrong).toEqual([]);
    expect(beforeMs).toBeLessThan(START_MS + 10 * minuteMs);
  });

  it('names every request differently', () => {
    expect(new Set(long.map(({ id }) => id)).size).toBe(long.length);
    expect(new Set(long.map(({ trace_id }) => trace_id)).size).toBe(long.length);
    expect(long.every(({ trace_id }) => /^[0-9a-f]{32}$/.test(trace_id))).toBe(true);
  });

  it('comes at the rate that it is asked for, in bursts', () => {
    const flat = traffic({ durationMs: 10 * minuteMs, dailySwing: 0 });
    expect(Math.abs(flat.length / (600 * 200) - 1)).toBeLessThan(0.2);
    const perSecond = new Float64Array(600);
    for (const { ts } of flat) {
      const second = Math.floor((ts - START_MS) / 1_000);
      perSecond[second] = (perSecond[second] as number) + 1;
    }
    const mean = flat.length / 600;
    const variance = perSecond.reduce((sum, count) => sum + (count - mean) ** 2, 0) / 600;
    // A Poisson process would give 1.
    expect(variance / mean).toBeGreaterThan(1.5);
  });

  it('shows the day in its rate, also below 20 requests a second', () => {
    const startMs = Date.UTC(2026, 10, 2);
    const day = traffic({ startMs, durationMs: 86_400_000, ratePerSecond: 2, dailySwing: 0.6 });
    const between = (from: number, to: number) =>
      day.filter(({ ts }) => ts >= startMs + from * 3_600_000 && ts < startMs + to * 3_600_000)
        .length /
      (to - from);
    expect(Math.abs(day.length / 172_800 - 1)).toBeLessThan(0.1);
    expect(between(14, 17) / between(2, 5)).toBeGreaterThan(2);
  });

  it('has the shares of the fleet: models, versions, regions, cold starts, hits, failures', () => {
    for (const { name, share } of defaultFleet) {
      expect(Math.abs(shareOf(long, (event) => event.model === name) - share)).toBeLessThan(0.05);
    }
    expect(shareOf(long, (event) => event.version === '2026-11-01')).toBeCloseTo(0.2, 2);
    expect(new Set(long.map(({ region }) => region)).size).toBe(2);
    expect(new Set(long.map(({ host }) => host)).size).toBe(20);
    expect(shareOf(long, (event) => event.cold_start)).toBeCloseTo(0.01, 2.5);
    const cached = long.filter((event) => event.cache_hit !== undefined);
    expect(new Set(cached.map(({ model }) => model))).toEqual(new Set(['ranker', 'llm']));
    expect(shareOf(cached, (event) => event.cache_hit === true)).toBeCloseTo(0.8, 2);
    expect(shareOf(long, (event) => event.status === 'error')).toBeCloseTo(0.002, 3);
    const timeouts = shareOf(long, (event) => event.status === 'timeout');
    expect(timeouts).toBeGreaterThan(0.0002);
    expect(timeouts).toBeLessThan(0.0012);
  });

  it('makes cold starts slow by a load, in a stage of its own where the model has one', () => {
    const cold = long.filter((event) => event.cold_start && event.status === 'ok');
    const warm = long.filter((event) => !event.cold_start);
    expect(warm.some((event) => 'model_load' in event.stages_ms)).toBe(false);
    for (const event of cold) {
      if (event.model === 'llm') expect(event.stages_ms.model_load).toBeGreaterThan(1_000);
      else expect(event.stages_ms.forward).toBeGreaterThan(80);
    }
    expect(Object.keys(cold.find(({ model }) => model === 'llm')?.stages_ms ?? {})).toEqual([
      ...['ingress', 'queue', 'parse', 'features', 'model_load', 'prefill', 'decode'],
      ...['postprocess', 'downstream', 'egress'],
    ]);
  });

  it('shortens features on a cache hit, and grows with the size of the request', () => {
    const ranker = long.filter((event) => event.model === 'ranker' && event.status === 'ok');
    const median = (hit: boolean) => {
      const values = ranker
        .filter((event) => event.cache_hit === hit)
        .map((event) => event.stages_ms.features as number)
        .sort((a, b) => a - b);
      return values[values.length >> 1] as number;
    };
    expect(Math.abs(median(true) / median(false) - 0.4)).toBeLessThan(0.03);
    const warm = ranker.filter((event) => !event.cold_start);
    const log = (pick: (event: TimingEventJson) => number) => warm.map((e) => Math.log(pick(e)));
    const items = log((event) => event.batch_size);
    expect(
      correlation(
        items,
        log((e) => e.stages_ms.forward as number),
      ),
    ).toBeGreaterThan(0.6);
    // Stages that share nothing but the request still go together.
    const ingress = log((event) => event.stages_ms.ingress as number);
    expect(
      correlation(
        ingress,
        log((e) => e.stages_ms.egress as number),
      ),
    ).toBeGreaterThan(0.3);
  });

  it('has a tail far heavier than its body', () => {
    const totals = long
      .filter((event) => event.model === 'ranker' && !event.cold_start)
      .map(({ total_ms }) => total_ms)
      .sort((a, b) => a - b);
    const q = (at: number) => totals[Math.floor(at * totals.length)] as number;
    expect(q(0.99) / q(0.5)).toBeGreaterThan(2);
    expect(q(0.999) / q(0.5)).toBeGreaterThan(3.5);
  });

  it('makes requests wait where the host is busy, and only there', () => {
    const ranker = long.filter((event) => event.model === 'ranker' && event.status === 'ok');
    const waits = (least: number, most: number) => {
      const some = ranker.filter(({ concurrency }) => concurrency >= least && concurrency <= most);
      const values = some.map((event) => event.stages_ms.queue as number).sort((a, b) => a - b);
      return values[values.length >> 1] as number;
    };
    expect(waits(1, 1)).toBeLessThan(0.2);
    expect(waits(4, 9)).toBeGreaterThan(20 * waits(1, 1));
    const concurrency = ranker.map((event) => event.concurrency);
    const queue = ranker.map((event) => event.stages_ms.queue as number);
    expect(correlation(concurrency, queue)).toBeGreaterThan(0.7);
    // And bursts are what makes it busy.
    const seconds = new Map<number, { count: number; queueMs: number }>();
    for (const event of ranker) {
      const second = Math.floor(event.ts / 1_000);
      const entry = seconds.get(second) ?? { count: 0, queueMs: 0 };
      entry.count++;
      entry.queueMs += event.stages_ms.queue as number;
      seconds.set(second, entry);
    }
    const all = [...seconds.values()];
    const counts = all.map(({ count }) => count);
    const meanQueue = all.map(({ count, queueMs }) => queueMs / count);
    expect(correlation(counts, meanQueue)).toBeGreaterThan(0.3);
  });

  it('does not make requests wait for minutes where nothing is wrong, however they burst', () => {
    const models = defaultFleet.filter(({ name }) => name === 'llm');
    const minutes = new Map<string, number[]>();
    const day = { seed: 2, durationMs: 26 * 60 * minuteMs, ratePerSecond: 1.2, models };
    for (const { region, ts, stages_ms } of traffic(day)) {
      const minute = `${region} ${Math.floor(ts / minuteMs)}`;
      const waits = minutes.get(minute);
      if (waits === undefined) minutes.set(minute, [stages_ms.queue as number]);
      else waits.push(stages_ms.queue as number);
    }
    const medians = [...minutes.values()]
      .filter((waits) => waits.length >= 20)
      .map((waits) => waits.sort((a, b) => a - b)[waits.length >> 1] as number);
    expect(medians.length).toBeGreaterThan(2_000);
    // With as many slots at any time the longest is 23 s.
    expect(Math.max(...medians)).toBeLessThan(5_000);
  });

  it('ends a timeout at its deadline, and an error in its forward pass', () => {
    const deadlines = new Map(defaultFleet.map(({ name, deadlineMs }) => [name, deadlineMs]));
    const beyond = long.filter(
      (event) =>
        event.total_ms > (deadlines.get(event.model) as number) ||
        (event.status === 'timeout') !== (event.total_ms === deadlines.get(event.model)),
    );
    expect(beyond).toEqual([]);
    const errors = long.filter(({ status }) => status === 'error');
    expect(errors.length).toBeGreaterThan(100);
    expect(errors.filter(({ stages_ms }) => 'postprocess' in stages_ms)).toEqual([]);
    expect(errors.filter(({ stages_ms }) => !('egress' in stages_ms))).toEqual([]);
  });

  it('gives a model the same requests whatever other models are there', () => {
    const ranker = defaultFleet.filter(({ name }) => name === 'ranker');
    const alone = traffic({ models: ranker, ratePerSecond: 70, durationMs: 20_000 });
    const among = traffic({ ratePerSecond: 100, durationMs: 20_000 });
    // Ids count over the fleet, so they differ.
    const anonymous = (events: readonly TimingEventJson[]) =>
      events.filter(({ model }) => model === 'ranker').map((event) => ({ ...event, id: '' }));
    expect(anonymous(among)).toEqual(anonymous(alone));
    expect(alone.length).toBeGreaterThan(500);
  });

  it('goes on for ever at a bounded memory where the duration is infinite', () => {
    let count = 0;
    for (const event of generateTraffic({
      seed: 3,
      startMs: START_MS,
      durationMs: Number.POSITIVE_INFINITY,
      ratePerSecond: 5_000,
    })) {
      if (event.ts - START_MS > 4_000) break;
      count++;
    }
    expect(count).toBeGreaterThan(10_000);
  });
});
