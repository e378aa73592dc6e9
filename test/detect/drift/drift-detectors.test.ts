import { describe, expect, it } from 'vitest';
import { hourMs } from '../../../src/base/time.ts';
import { type AnomalyEvent, anomalyEventSchema } from '../../../src/contract/anomaly-event.ts';
import { Detector } from '../../../src/detect/detector.ts';
import { DriftDetectors, type SeriesHour } from '../../../src/detect/drift/drift-detectors.ts';
import type { StepContext } from '../../../src/detect/options/detector-step.ts';
import { seriesKey } from '../../../src/series/series-key.ts';
import type { Series, SeriesWindow, StageSummary } from '../../../src/series/series-window.ts';
import { TDigest } from '../../../src/sketch/t-digest.ts';
import { StateWriter } from '../../../src/snapshot/archive-writer.ts';
import { mulberry32, SeededRandom } from '../../base/seeded-random.ts';
import { anomalyFixture } from '../../contract/anomaly-fixture.ts';
import { detectOptions } from '../../scenarios/run-scenario.ts';
import { countStartMs, seriesOf } from '../count-traffic.ts';

// A window is an hour here: hours are evaluated.
const options = detectOptions({ window: '1h', page_budget_per_week: 1e-3 });
const week = 7 * 24;
const empty = { bands: [], amounts: [] };

/** Requests of a series in an hour: a factor on `forward`, half of whose time is in the queue. */
interface Hour {
  readonly times: number;
  readonly version?: string;
  /** True where a shift of its tail was open. */
  readonly isOpen?: boolean;
  readonly requests?: number;
}

function windowOf(hour: number, { times, version = '', requests = 20_000 }: Hour): SeriesWindow {
  const random = new SeededRandom(hour, mulberry32);
  const queue = 10 * Math.exp(0.02 * random.normal());
  const forward = 90 * times * Math.exp(0.02 * random.normal());
  const summary = (stage: string, ms: number): StageSummary => {
    const means = Float64Array.from({ length: 100 }, (_, i) => ms * (0.5 + i / 100));
    const digest = TDigest.fromCentroids(means, new Float64Array(100).fill(requests / 100));
    const counts = { requests, errors: 0, timeouts: 0, cancelled: 0 };
    const sums = { sumMs: ms * requests, minMs: ms / 2, maxMs: 1.5 * ms };
    return { stage, ...counts, ...sums, digest, bands: empty, bandsMs: empty };
  };
  const stages = [
    summary('queue', queue),
    summary('forward', forward),
    summary('total', queue + forward),
  ];
  return {
    windowStartMs: countStartMs + hour * hourMs,
    windowMs: hourMs,
    series: seriesOf({ version }),
    stages: new Map(stages.map((each) => [each.stage, each])),
  };
}

interface Emitted {
  readonly hour: number;
  readonly event: AnomalyEvent;
}

/** All events, by the hour at whose end each is emitted. */
function emitted(
  hours: number,
  at: (hour: number) => Hour | undefined,
  from = 0,
  drifts = new DriftDetectors(options),
): Emitted[] {
  const all: Emitted[] = [];
  for (let hour = from; hour < hours; hour++) {
    const now = at(hour);
    const present = new Map<string, SeriesWindow>();
    if (now !== undefined) {
      const window = windowOf(hour, now);
      present.set(seriesKey(window.series), window);
    }
    const startMs = countStartMs + hour * hourMs;
    const context = {
      nowMs: startMs + hourMs,
      levels: { perWeek: 1 },
      totalRequests: 0,
      live: true,
    };
    const isOpen = () => now?.isOpen === true;
    for (const event of step(drifts, present, startMs, isOpen, [], context)) {
      all.push({ hour, event: anomalyEventSchema.parse(event) });
    }
  }
  return all;
}

const knownBy = new WeakMap<DriftDetectors, Set<string>>();

/** Advances all series that were ever seen. */
function step(
  drifts: DriftDetectors,
  present: ReadonlyMap<string, SeriesWindow>,
  startMs: number,
  isOpen: (key: string) => boolean,
  tails: AnomalyEvent[],
  context: StepContext,
): AnomalyEvent[] {
  const openKeys = new Set([...present.keys()].filter(isOpen));
  const drifting: AnomalyEvent[] = [];
  const offered = [...present.values()];
  const at = { startMs, context, offered, present };
  const known = knownBy.get(drifts) ?? new Set();
  knownBy.set(drifts, known);
  for (const key of present.keys()) known.add(key);
  drifts.register(present);
  drifts.publishShared();
  for (const key of known) {
    const own = tails.filter((event) => seriesKey(event) === key);
    const event = drifts.evaluateSeries(key, present.get(key), at, openKeys.has(key), own);
    if (event !== undefined) drifting.push(event);
  }
  return drifts.evaluate(at, { tails, failures: [], drifts: drifting, openKeys });
}

const outline = (all: readonly Emitted[]) =>
  all.map(({ hour, event }) => `${hour} ${event.state} ${event.resolution ?? ''}`.trim());

describe('slow drift', () => {
  it('opens where a day creeps up on the same day a week before, and names the stage', () => {
    const creep = (hour: number) => 1 + Math.min(0.5, Math.max(0, 0.02 * (hour - week - 24)));
    const all = emitted(week + 24 + 80, (hour) => ({ times: creep(hour) }));
    const [first] = all;
    expect(first).toBeDefined();
    const { event, hour } = first as Emitted;
    // The middle of the last 24 hours is then slower by three tenths.
    expect(hour).toBeGreaterThan(week + 24 + 15);
    expect(hour).toBeLessThan(week + 24 + 40);
    expect(event).toMatchObject({
      ...{ kind: 'drift', state: 'opened', severity: 'info', version: '', model: 'ranker' },
      ...{ stage: 'forward', bottleneck: 'compute', group_key: 'drift|ranker|forward' },
    });
    expect(event.ratio).toBeGreaterThanOrEqual(1.3);
    expect(event.observed_ms / event.baseline_ms).toBeCloseTo(event.ratio, 3);
    expect(event.interval_ms[0]).toBeLessThan(event.observed_ms);
    expect(event.interval_ms[1]).toBeGreaterThan(event.observed_ms);
    expect(event.blame.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(1, 9);
    expect(event.blame[0]?.share).toBeGreaterThan(0.95);
    expect(event.evidence).toMatchObject({ test: 'hourly_ratios', expected: 12, windows: 24 });
    expect(event.evidence.p_value).toBeLessThanOrEqual(event.evidence.alpha);
    expect(event.summary).toMatch(
      /^p9[59] of ranker \(.*\) was [\d.]+ ms over the last day, 1\.\d\dx its baseline of [\d.]+ ms \(same hours a week before\); in the requests of a day forward rose by [\d.]+ ms, the mean by [\d.]+ ms; as of [\d:]+ UTC$/,
    );
    expect(event.sql).toContain('FROM latency_1h');
  });

  it('is rebaselined two days after it opened, and emits nothing more', () => {
    const all = emitted(4 * week, (hour) => ({ times: hour < week + 24 ? 1 : 1.45 }));
    const [opened] = all;
    expect(outline(all)).toEqual([
      `${opened?.hour} opened`,
      `${(opened?.hour ?? 0) + 48} resolved rebaselined`,
    ]);
    expect(all[1]?.event.summary).toMatch(/has stayed slower; this is now the baseline$/);
  });

  it('keeps emitting while it continues', () => {
    // Five percent a day, for a month.
    const all = emitted(30 * 24, (hour) => ({
      times: 1.05 ** (Math.max(0, hour - week - 24) / 24),
    }));
    const opened = all.filter(({ event }) => event.state === 'opened');
    expect(opened.length).toBeGreaterThanOrEqual(3);
    expect(new Set(opened.map(({ event }) => event.id)).size).toBe(opened.length);
    const resolved = all.filter(({ event }) => event.state === 'resolved');
    expect(opened.length - resolved.length).toBeLessThanOrEqual(1);
  });

  it('resolves with the last hours, which are excluded from comparison a week later', () => {
    const slow = (hour: number) => hour >= week + 24 && hour < week + 24 + 40;
    const all = emitted(4 * week, (hour) => ({ times: slow(hour) ? 1.5 : 1 }));
    expect(all.map(({ event }) => event.resolution)).toEqual([null, 'recovered']);
    const [, recovered] = all;
    // Three clear windows come after half of the last six hours are at the baseline.
    expect(recovered?.hour).toBeLessThan(week + 24 + 40 + 8);
    expect(recovered?.event.summary).toMatch(/ recovered: as fast as a week before$/);
    // A week later ten more hours are slow: compared with slow ones they would look normal.
    const again = (hour: number) => slow(hour) || (hour >= 350 && hour < 350 + 40);
    const twice = emitted(4 * week, (hour) => ({ times: again(hour) ? 1.5 : 1 }));
    expect(twice.filter(({ event }) => event.state === 'opened')).toHaveLength(2);
  });

  it('opens again when it has grown by 15 %, at the same odds', () => {
    const at = (hour: number) => (hour < week + 24 ? 1 : hour < week + 54 ? 1.4 : 2);
    const [opened, updated] = emitted(week + 90, (hour) => ({ times: at(hour) }));
    expect(updated?.event).toMatchObject({ state: 'updated', revision: 2, severity: 'info' });
    expect(updated?.event.ratio).toBeGreaterThan(1.15 * (opened?.event.ratio ?? 0));
    expect(updated?.event.evidence.alpha).toBe(opened?.event.evidence.alpha);
  });

  it('is the same to the last bit for any order of the windows of two versions', () => {
    const save = (versions: readonly string[]) => {
      const drifts = new DriftDetectors(options);
      const context = { nowMs: 0, levels: { perWeek: 1 }, totalRequests: 0, live: true };
      for (let hour = 0; hour < 3; hour++) {
        const windows = versions.map((version) => {
          const times = version === 'a' ? 1 : 1.7;
          return windowOf(hour, { times, version, requests: 70 });
        });
        const present = new Map(windows.map((each) => [seriesKey(each.series), each]));
        step(drifts, present, countStartMs + hour * hourMs, () => false, [], context);
      }
      const writer = new StateWriter();
      for (const key of drifts.keys) drifts.serializeOne(writer, key);
      return writer.drain().toString('hex');
    };
    expect(save(['a', 'b', 'c'])).toBe(save(['c', 'b', 'a']));
  });

  it('covers all versions: a few percent with every release', () => {
    const all = emitted(18 * 24, (hour) => {
      const release = Math.max(0, Math.floor(hour / 24) - 7);
      return { times: 1.06 ** release, version: `v${release}` };
    });
    expect(all[0]?.event).toMatchObject({ state: 'opened', version: '' });
    // 1.06^5 is 1.34.
    expect(all[0]?.hour).toBeLessThan(14 * 24);
  });

  it('leaves out hours with an open shift of the tail', () => {
    const shifted = (hour: number) => hour >= week + 24 && hour < week + 24 + 20;
    const at = (hour: number): Hour => ({ times: shifted(hour) ? 3 : 1, isOpen: shifted(hour) });
    expect(emitted(3 * week, at)).toEqual([]);
    // The same without an open shift is a drift.
    expect(emitted(3 * week, (hour) => ({ times: shifted(hour) ? 3 : 1 })).length).toBeGreaterThan(
      0,
    );
  });

  it.each([
    ['of the only version', [seriesOf()]],
    ['of one of two versions', [seriesOf(), seriesOf({ version: 'v7' })]],
  ])('forgets hours from before a shift of the tail %s was rebaselined', (_, versions) => {
    const drifts = new DriftDetectors(options);
    const shiftsAt = week + 30;
    const before = emitted(shiftsAt, () => ({ times: 1 }), 0, drifts);
    const rebaselined = anomalyFixture({
      ...(versions.at(-1) as Series),
      resolution: 'rebaselined',
    });
    const context = { nowMs: 0, levels: { perWeek: 1 }, totalRequests: 0, live: true };
    const windows = versions.map((series) => ({ ...windowOf(shiftsAt, { times: 1 }), series }));
    const present = new Map(windows.map((window) => [seriesKey(window.series), window]));
    step(drifts, present, countStartMs + shiftsAt * hourMs, () => false, [rebaselined], context);
    const after = emitted(shiftsAt + week, () => ({ times: 2 }), shiftsAt + 1, drifts);
    expect([...before, ...after]).toEqual([]);
  });

  it('opens nothing for an office that closes at six', () => {
    const isOpen = (hour: number) => hour % 24 >= 8 && hour % 24 < 18;
    const all = emitted(week + 4 * 24, (hour) =>
      isOpen(hour) ? { times: hour < week + 24 ? 1 : 1.4 } : undefined,
    );
    expect(all.map(({ event }) => event.resolution)).toEqual([null, 'rebaselined']);
    expect(all[0]?.event.requests).toBeLessThanOrEqual(10 * 20_000);
  });

  it('continues from backfilled hours', () => {
    const drifts = new DriftDetectors(options);
    for (const hour of backfilled((n) => (n < 7 * 24 ? 1 : 1.4))) drifts.backfill(hour);
    expect(outline(emitted(193, () => ({ times: 1.4 }), 192, drifts))).toEqual(['192 opened']);
    const calm = new DriftDetectors(options);
    for (const hour of backfilled(() => 1)) calm.backfill(hour);
    expect(emitted(193, () => ({ times: 1.4 }), 192, calm)).toEqual([]);
  });

  it('ends for want of traffic once too few hours remain to compare', () => {
    const drifts = new DriftDetectors({ ...options, rebaseline_after: 10 * 24 * hourMs });
    const timesOf = (hour: number) => (hour < week + 24 ? 1 : 1.4);
    const at = (hour: number) => (hour < week + 60 ? { times: timesOf(hour) } : undefined);
    const all = emitted(week + 6 * 24, at, 0, drifts);
    expect(all.map(({ event }) => event.resolution)).toEqual([null, 'no_traffic']);
    expect(all[1]?.event.summary).toMatch(/too few requests/);
  });
});

describe('a detector with both tests', () => {
  it.each([
    ['its only version', ['v1']],
    ['two versions', ['v1', 'v2']],
  ])('opens one shift of %s that stays, and no drift beside it', (_, versions) => {
    const detect = { window: '1h', baseline: '36h', resolve_windows: 18, page_budget_per_week: 1 };
    const detector = new Detector(detectOptions(detect));
    const kinds: string[] = [];
    for (let hour = 0; hour < week + 9 * 24; hour++) {
      const startMs = countStartMs + hour * hourMs;
      const times = hour < week + 30 ? 1 : 3;
      const windows = versions.map((version) => windowOf(hour, { times, version }));
      for (const event of detector.observe(windows, startMs + hourMs)) {
        const { kind, state, resolution, incident_id } = event;
        // Events with an incident are members of an emitted one.
        if (state !== 'updated' && incident_id === undefined)
          kinds.push(`${kind} ${resolution ?? state}`);
      }
    }
    expect(kinds).toEqual(['tail_shift opened', 'tail_shift rebaselined']);
  });
});

/** Eight days of hours. */
function backfilled(timesOf: (hour: number) => number): SeriesHour[] {
  return Array.from({ length: 192 }, (_, n) => {
    const { stages } = windowOf(n, { times: timesOf(n) });
    const { digest, requests } = stages.get('total') as StageSummary;
    const hour = {
      ...{ startMs: countStartMs + n * hourMs, stage: 'total', requests },
      quantilesMs: options.quantiles.map((q) => digest.quantile(q)),
      meansMs: new Map([...stages].map(([stage, { sumMs }]) => [stage, sumMs / requests])),
    };
    return { series: seriesOf({ version: '' }), hour };
  });
}
