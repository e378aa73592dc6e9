import { Random } from '../../src/generate/random.ts';
import { ofAllVersions, type VersionDurations } from './completed-windows.ts';
import { drawWindow } from './draw-window.ts';
import { type Fault, faultsFrom } from './faults.ts';
import {
  detectSettings,
  judgeSeries,
  type SeriesOrder,
  type SeriesOutcome,
  type SeriesSource,
} from './judge-series.ts';
import { type NullFamily, nullFamilies, windowsPerDay } from './null-families.ts';
import { SeriesOracle } from './series-oracle.ts';
import type { Moment, TrafficModel } from './traffic-model.ts';
import { trueEffect } from './true-effect.ts';

/** Runs one series of a family. The same order gives the same outcome. */
export function runSeries(order: SeriesOrder): SeriesOutcome {
  const family = nullFamilies.find(({ name }) => name === order.family) as NullFamily;
  const random = new Random(`${order.family} ${order.seed}`);
  const faults =
    order.faultsFromDay === undefined
      ? []
      : faultsFrom(
          order.faultsFromDay * windowsPerDay,
          order.days * windowsPerDay,
          random.split('faults'),
        );
  return judgeSeries(order, new ModelSource(family.model(random), faults, random), random);
}

/** Traffic of a model whose law the oracle knows. */
export class ModelSource implements SeriesSource {
  readonly faults: readonly Fault[];
  readonly #model: TrafficModel;
  readonly #random: Random;
  readonly #draws: Random;
  readonly #oracle: SeriesOracle;
  readonly #small = new Set<Fault>();
  #moment: Moment | undefined;

  constructor(model: TrafficModel, faults: readonly Fault[], random: Random) {
    this.faults = faults;
    this.#model = model;
    this.#random = random;
    this.#draws = random.split('requests');
    this.#oracle = new SeriesOracle(model, faults);
  }

  startedIn(window: number, fault: Fault | undefined): readonly VersionDurations[] {
    const moment = this.#model.momentAt(window);
    this.#moment = moment;
    this.#draws.seek(window, 0);
    const { version } = moment;
    return [{ version, durations: drawWindow(moment, window, fault, this.#draws) }];
  }

  observe(window: number, fault: Fault | undefined, completed: readonly VersionDurations[]): void {
    const moment = this.#moment as Moment;
    if (this.faults.length > 0) {
      this.#oracle.observe(window, moment, fault, ofAllVersions(completed));
    }
    if (fault?.from !== window) return;
    const { ratio, excessMs } = trueEffect(fault, moment, this.#random.split(`effect ${window}`));
    const { min_effect_ratio, min_effect_ms } = detectSettings;
    if (ratio < min_effect_ratio || excessMs < min_effect_ms) this.#small.add(fault);
  }

  foundAt(fault: Fault): number {
    return this.#oracle.foundAt(fault);
  }

  isSmall(fault: Fault): boolean {
    return this.#small.has(fault);
  }
}
