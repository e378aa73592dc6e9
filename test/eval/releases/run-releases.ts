import { configSchema } from '../../../src/config/schema.ts';
import type { AnomalyEvent } from '../../../src/contract/anomaly-event.ts';
import { Detector } from '../../../src/detect/detector.ts';
import { Random } from '../../../src/generate/random.ts';
import type { SeriesWindow } from '../../../src/series/series-window.ts';
import { loadState } from '../../detect/load-state.ts';
import { CompletedWindows, type VersionDurations } from '../completed-windows.ts';
import { drawWindow } from '../draw-window.ts';
import { pagesPerWeek } from '../judge-series.ts';
import { type NullFamily, nullFamilies, windowMs, windowsPerDay } from '../null-families.ts';
import type { Moment, TrafficModel } from '../traffic-model.ts';
import { WindowMaker } from '../window-maker.ts';
import { type Release, type ReleaseCase, releaseCases } from './release-cases.ts';

/** One series of a family, and all of its releases. */
export interface ReleaseOrder {
  readonly family: string;
  readonly seed: number;
  /** Names of cases; all where there is none. */
  readonly cases: readonly string[];
}

/** Result of a case. */
export interface ReleaseOutcome extends ReleaseOrder {
  readonly name: string;
  /** From the first release until it was reported; undefined where it was not. */
  readonly delaySeconds: number | undefined;
  readonly blamed: string | undefined;
  readonly pages: number;
  readonly summaries: readonly string[];
}

/** A day, and some hours more, at another time of day in each series. */
const learning = windowsPerDay + 360;
const startMs = Date.UTC(2026, 10, 2);
const slowedStage = 'forward';
const firstVersion = { version: 'v0', share: 1, factor: 1 };
/** A longer request of the past is dropped. */
const warmUpWindows = 6;

/**
 * Runs each case from the same past on: its snapshot is saved once, and restored for each. The same order
 * gives the same outcomes.
 */
export function runReleases(order: ReleaseOrder): ReleaseOutcome[] {
  const wanted = ({ name }: ReleaseCase) => order.cases.length === 0 || order.cases.includes(name);
  const cases = releaseCases.filter(wanted);
  const rates = new Set(cases.map(({ ratePerSecond }) => ratePerSecond));
  return [...rates].flatMap((rate) => {
    const past = learn(order, rate);
    const ofRate = cases.filter(({ ratePerSecond }) => ratePerSecond === rate);
    return ofRate.map((each) => ({ ...order, name: each.name, ...release(order, each, past) }));
  });
}

/** Traffic of a family at a rate of its own; a case starts at the same moment whatever else was run. */
class Traffic {
  readonly #model: TrafficModel;
  readonly #rate: number;
  readonly #draws: Random;
  readonly #completed: CompletedWindows;
  readonly #maker = new WindowMaker(windowMs);
  readonly #baselineRate: number;

  constructor({ family, seed }: ReleaseOrder, ratePerSecond: number) {
    const { model } = nullFamilies.find(({ name }) => name === family) as NullFamily;
    const random = new Random(`${family} ${seed}`);
    this.#model = model(random);
    this.#rate = ratePerSecond;
    this.#draws = random.split('requests');
    this.#completed = new CompletedWindows(windowMs, random.split('offsets'));
    this.#baselineRate = model(new Random('rate')).momentAt(0).ratePerSecond;
  }

  /** Windows come in order; there is one of each version of which a request completes. */
  windows(window: number, parts: readonly { version: string; share: number; factor: number }[]) {
    const moment = this.#model.momentAt(window);
    this.#draws.seek(window, 0);
    const windowStartMs = startMs + window * windowMs;
    const started = parts.flatMap(({ version, share, factor }): VersionDurations[] => {
      if (share <= 0) return [];
      const rate = (moment.ratePerSecond / this.#baselineRate) * this.#rate * share;
      const fault = {
        kind: '',
        stage: slowedStage,
        share: 1,
        from: 0,
        to: 0,
        factorAt: () => factor,
      };
      const ofVersion: Moment = { ...moment, version, ratePerSecond: rate };
      return [{ version, durations: drawWindow(ofVersion, window, fault, this.#draws) }];
    });
    const ended = this.#completed.complete(window, started);
    return ended.flatMap(({ version, durations }): SeriesWindow[] =>
      this.#maker.make(windowStartMs, version, durations),
    );
  }
}

function newDetector(): Detector {
  const { detect } = configSchema.parse({ detect: { page_budget_per_week: pagesPerWeek } });
  return new Detector(detect);
}

function observe(detector: Detector, windows: readonly SeriesWindow[], window: number) {
  const windowStartMs = startMs + window * windowMs;
  return detector.observe(windows, windowStartMs + windowMs + 2_000, windowStartMs);
}

function learn(order: ReleaseOrder, ratePerSecond: number): ReadonlyMap<string, Buffer> {
  const detector = newDetector();
  const traffic = new Traffic(order, ratePerSecond);
  for (let window = 0; window < learning; window++) {
    observe(detector, traffic.windows(window, [firstVersion]), window);
  }
  return new Map([...detector.save()].map(({ name, bytes }) => [name, Buffer.from(bytes)]));
}

function release(
  order: ReleaseOrder,
  { ratePerSecond, releases, windows }: ReleaseCase,
  past: ReadonlyMap<string, Buffer>,
) {
  const detector = newDetector();
  loadState(detector, past);
  const traffic = new Traffic(order, ratePerSecond);
  // Moments are drawn one after the other, those of the past too. Requests of its last minute may still run.
  for (let window = 0; window < learning; window++) {
    traffic.windows(window, window < learning - warmUpWindows ? [] : [firstVersion]);
  }
  const opened: AnomalyEvent[] = [];
  for (let age = 0; age < windows; age++) {
    const parts = partsAt(releases, age);
    const events = observe(detector, traffic.windows(learning + age, parts), learning + age);
    const pages = events.filter(
      ({ state, incident_id: of }) => state === 'opened' && of === undefined,
    );
    opened.push(...pages);
  }
  const [first] = opened;
  const releasedMs = startMs + learning * windowMs;
  return {
    delaySeconds: first && (Date.parse(first.detected_at) - releasedMs) / 1000,
    blamed: first?.stage,
    pages: opened.length,
    summaries: opened.map(({ detected_at, summary }) => `${detected_at} ${summary}`),
  };
}

/** Shares of the traffic by version, and their factors. */
function partsAt(releases: readonly Release[], age: number) {
  const last = releases.findLastIndex(({ at }) => at <= age);
  const current = releases[last] as Release;
  const before = releases[last - 1];
  return [
    {
      version: `v${last}`,
      share: 1 - current.share,
      factor: before?.factorAt(age - before.at) ?? 1,
    },
    {
      version: `v${last + 1}`,
      share: current.share,
      factor: current.factorAt(age - current.at),
    },
  ];
}
