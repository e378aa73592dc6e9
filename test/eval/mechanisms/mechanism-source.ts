import type { Random } from '../../../src/generate/random.ts';
import { CompletedWindows, type VersionDurations } from '../completed-windows.ts';
import type { Durations } from '../draw-window.ts';
import type { Fault } from '../faults.ts';
import { detectSettings, type SeriesSource } from '../judge-series.ts';
import { windowMs, windowsPerDay } from '../null-families.ts';
import { HindsightOracle } from './hindsight-oracle.ts';
import type { DrawnMechanism, Traffic } from './mechanism.ts';
import { cutsOf, WindowStatistics, withTotal } from './window-statistics.ts';

/** Requests of a fault of which its effect is computed. */
const effectRequests = 20_000;
/** Of the first day, one window in so many gives the levels of the oracle. */
const sampledWindows = 4;

/** Durations of the stages of requests in a fault, without it and with it. */
interface Effect {
  readonly calm: Map<string, number[]>;
  readonly faulty: Map<string, number[]>;
}

/**
 * Traffic of a mechanism with faults, beside the same without: both draw the same numbers. What a fault does is
 * the difference. Memory: six numbers for each stage and window.
 */
export class MechanismSource implements SeriesSource {
  readonly faults: readonly Fault[];
  readonly #traffic: Traffic;
  readonly #calmTraffic: Traffic;
  readonly #windows: number;
  readonly #calmWindows: CompletedWindows;
  readonly #cuts = new Map<string, number[]>();
  readonly #calm = new Map<string, WindowStatistics>();
  readonly #faulty = new Map<string, WindowStatistics>();
  readonly #effects = new Map<Fault, Effect>();
  #found: ReadonlyMap<Fault, number> | undefined;
  #shams = 0;

  constructor(
    mechanism: DrawnMechanism,
    faults: readonly Fault[],
    { random, days }: { readonly random: Random; readonly days: number },
  ) {
    this.faults = faults;
    this.#windows = days * windowsPerDay;
    this.#traffic = mechanism.traffic(random.split('traffic'));
    this.#calmTraffic = mechanism.traffic(random.split('traffic'));
    this.#calmWindows = new CompletedWindows(windowMs, random.split('offsets'));
    if (faults.length === 0) return;
    const first = mechanism.traffic(random.split('traffic'));
    const samples = new Map<string, number[]>();
    for (let window = 0; window < windowsPerDay; window++) {
      const { durations } = first(window, undefined);
      if (window % sampledWindows > 0) continue;
      for (const [stage, ms] of withTotal(durations)) {
        samples.set(stage, [...(samples.get(stage) ?? []), ...ms]);
      }
    }
    for (const [stage, sample] of samples) this.#cuts.set(stage, cutsOf(sample));
  }

  startedIn(window: number, fault: Fault | undefined): readonly VersionDurations[] {
    const started = this.#traffic(window, fault);
    if (this.faults.length === 0 || window >= this.#windows) return [started];
    const calm = this.#calmTraffic(window, undefined);
    if (fault !== undefined) this.#addEffect(window, fault, calm.durations, started.durations);
    const [completed] = this.#calmWindows.complete(window, [calm]);
    this.#add(this.#calm, window, completed);
    return [started];
  }

  observe(window: number, _: Fault | undefined, completed: readonly VersionDurations[]): void {
    if (this.faults.length > 0) this.#add(this.#faulty, window, completed[0]);
  }

  foundAt(fault: Fault): number {
    return this.#findings().get(fault) ?? -1;
  }

  /** Stretches without a fault, as long as the faults, in which the oracle finds one. */
  get shams(): number {
    this.#findings();
    return this.#shams;
  }

  isSmall(fault: Fault): boolean {
    const effect = this.#effects.get(fault);
    const { quantiles, min_effect_ratio, min_effect_ms } = detectSettings;
    return ![fault.stage, 'total'].some((stage) => {
      const before = effect?.calm.get(stage)?.sort((a, b) => a - b) ?? [];
      const after = effect?.faulty.get(stage)?.sort((a, b) => a - b) ?? [];
      return quantiles.some((q) => {
        const a = before[Math.floor(q * before.length)] ?? Number.NaN;
        const b = after[Math.floor(q * after.length)] ?? Number.NaN;
        return b / a >= min_effect_ratio && b - a >= min_effect_ms;
      });
    });
  }

  #add(
    to: Map<string, WindowStatistics>,
    window: number,
    completed: VersionDurations | undefined,
  ): void {
    const all = withTotal(completed?.durations ?? new Map());
    for (const [stage, cuts] of this.#cuts) {
      const known = to.get(stage) ?? new WindowStatistics(this.#windows, cuts);
      to.set(stage, known);
      known.add(window, all.get(stage) ?? []);
    }
  }

  /** Growth counts as it is at its end. */
  #addEffect(window: number, fault: Fault, calm: Durations, faulty: Durations): void {
    if (window < (fault.from + fault.to) / 2) return;
    const effect = this.#effects.get(fault) ?? { calm: new Map(), faulty: new Map() };
    this.#effects.set(fault, effect);
    for (const [to, durations] of [
      [effect.calm, calm],
      [effect.faulty, faulty],
    ] as const) {
      for (const [stage, ms] of withTotal(durations)) {
        const known = to.get(stage) ?? [];
        to.set(stage, known);
        if (known.length < effectRequests) known.push(...ms);
      }
    }
  }

  #findings(): ReadonlyMap<Fault, number> {
    if (this.#found !== undefined) return this.#found;
    const oracle = new HindsightOracle(this.#calm, this.#windows);
    const spans = oracle.find(this.#faulty, this.faults);
    this.#found = new Map(
      this.faults.flatMap((fault, i) => {
        const span = spans[i];
        return span === undefined ? [] : [[fault, fault.from + span - 1] as const];
      }),
    );
    this.#shams = oracle.sham(this.faults).filter((span) => span !== undefined).length;
    return this.#found;
  }
}
