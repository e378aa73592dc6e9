import { totalStage } from '../../../src/base/dimensions.ts';
import { Random } from '../../../src/generate/random.ts';
import type { SeriesWindow } from '../../../src/series/series-window.ts';
import { TDigest } from '../../../src/sketch/t-digest.ts';
import { CompletedWindows } from '../completed-windows.ts';
import type { Durations } from '../draw-window.ts';
import type { Fault } from '../faults.ts';
import { type NullFamily, nullFamilies, windowMs } from '../null-families.ts';
import { drawMs, type Moment, type StageModel } from '../traffic-model.ts';
import { WindowMaker } from '../window-maker.ts';

export interface IncidentOrder {
  readonly family: string;
  readonly seed: number;
  readonly windows: number;
  readonly faults: readonly Fault[];
  /** True for digests with every single request, instead of the stored ones. */
  readonly isRaw?: boolean;
  /** Rate of requests, instead of the family's. */
  readonly ratePerSecond?: number;
  /** Stages, instead of the family's. */
  readonly stages?: readonly StageModel[];
  /** First window; requests that began before are left out. */
  readonly firstWindow?: number;
}

export interface TrafficWindow {
  readonly window: number;
  readonly windowStartMs: number;
  readonly moment: Moment;
  readonly present: SeriesWindow[];
}

const firstMs = Date.UTC(2026, 10, 2);

/**
 * Yields one series of a family, window by window. The drawn requests are the same with any faults, which
 * only make some of them slower and so complete later.
 */
export function* incidentTraffic(order: IncidentOrder): Generator<TrafficWindow> {
  const family = nullFamilies.find(({ name }) => name === order.family) as NullFamily;
  const random = new Random(`${order.family} ${order.seed}`);
  const { momentAt } = family.model(random);
  const draws = random.split('requests');
  const chances = random.split('chances');
  const completed = new CompletedWindows(windowMs, random.split('offsets'));
  const maker = new WindowMaker(windowMs);
  for (let window = 0; window < order.windows; window++) {
    const own = momentAt(window);
    if (window < (order.firstWindow ?? 0)) continue;
    const { ratePerSecond = own.ratePerSecond, stages = own.stages } = order;
    const moment = { ...own, ratePerSecond, stages };
    const windowStartMs = firstMs + window * windowMs;
    const faults = order.faults.filter(({ from, to }) => from <= window && window < to);
    const durations = new Map<string, number[]>(moment.stages.map(({ name }) => [name, []]));
    draws.seek(window, 0);
    chances.seek(window, 0);
    const requests = draws.poisson(moment.ratePerSecond * (windowMs / 1000));
    for (let n = 0; n < requests; n++) {
      for (const { name, components } of moment.stages) {
        let value = drawMs(components, draws);
        for (const { stage, share, factorAt } of faults) {
          if (stage === name && chances.chance(share)) value *= factorAt(window);
        }
        durations.get(name)?.push(value);
      }
    }
    const ended = completed.complete(window, [{ version: moment.version, durations }]);
    const present = ended.flatMap((each) => {
      const made = maker.make(windowStartMs, each.version, each.durations);
      return order.isRaw === true ? made.map(withRaw(each.durations)) : made;
    });
    yield { window, windowStartMs, moment, present };
  }
}

/** The same window with a centroid for each request. */
function withRaw(durations: Durations) {
  const columns = [...durations.values()];
  const totals = columns[0]?.map((_, n) => columns.reduce((sum, each) => sum + (each[n] ?? 0), 0));
  const values = new Map([...durations, [totalStage, totals ?? []]]);
  return (window: SeriesWindow): SeriesWindow => {
    const stages = [...window.stages].map(([stage, summary]) => {
      const sorted = Float64Array.from(values.get(stage) ?? []).sort();
      const ones = new Float64Array(sorted.length).fill(1);
      const digest = TDigest.fromCentroids(sorted, ones, sorted.length);
      return [stage, { ...summary, digest }] as const;
    });
    return { ...window, stages: new Map(stages) };
  };
}
