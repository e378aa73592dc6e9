import type { Durations } from './draw-window.ts';
import type { Fault } from './faults.ts';
import { LatentFilter } from './latent-filter.ts';
import { logDensities } from './log-densities.ts';
import { MarkovChain } from './markov-chain.ts';
import { windowsPerDay } from './null-families.ts';
import { Oracle, oracleWeeks } from './oracle.ts';
import { componentsOf, type Moment, type TrafficLaw, type TrafficModel } from './traffic-model.ts';

const threshold = oracleWeeks * 7 * windowsPerDay;
/** The state of a stage that depends on time alone. */
const certain = new MarkovChain([[1]], [1]);

/** The oracle of each fault of a series, with its knowledge by then: earlier windows, and their faults. */
export class SeriesOracle {
  readonly #law: TrafficLaw | undefined;
  readonly #faults: readonly Fault[];
  readonly #oracles = new Map<Fault, Oracle>();
  /** The stage with a state, up to the latest window; undefined where no fault of it is near. */
  #past: LatentFilter | undefined;

  constructor({ law }: TrafficModel, faults: readonly Fault[]) {
    this.#law = law;
    this.#faults = faults;
  }

  /** Returns the window of a fault's detection, -1 for none. */
  foundAt(fault: Fault): number {
    return this.#oracles.get(fault)?.foundAt ?? -1;
  }

  /**
   * Adds one window: its moment, its fault, and the durations of each stage, of the requests that complete in
   * it like in the detector. The few that started before are assigned to this window: in the first one of a
   * fault they count against it.
   */
  observe(window: number, moment: Moment, fault: Fault | undefined, durations: Durations): void {
    const law = this.#law;
    if (law !== undefined) this.#observeStateful(window, law, fault, durations);
    if (fault === undefined || fault.stage === law?.stage) return;
    const states = [componentsOf(moment, fault.stage)];
    const ms = durations.get(fault.stage) ?? [];
    this.#oracleOf(fault, certain, certain.stationary).observe(
      window,
      logDensities(ms, states),
      logDensities(ms, states, slowdownOf(fault, window)),
    );
  }

  #observeStateful(
    window: number,
    { stage, chain, states, forgottenAfterWindows }: TrafficLaw,
    fault: Fault | undefined,
    durations: Durations,
  ): void {
    const isNear = this.#faults.some(
      (each) =>
        each.stage === stage && each.from - forgottenAfterWindows <= window && window < each.to,
    );
    if (!isNear) {
      this.#past = undefined;
      return;
    }
    this.#past ??= new LatentFilter(chain);
    const ms = durations.get(stage) ?? [];
    const baseline = logDensities(ms, states);
    if (fault?.stage !== stage) {
      this.#past.observe(baseline);
      return;
    }
    const faulty = logDensities(ms, states, slowdownOf(fault, window));
    this.#oracleOf(fault, chain, this.#past.probabilities).observe(window, baseline, faulty);
    // At the next window, the state of this one is known.
    this.#past.observe(faulty);
  }

  #oracleOf(fault: Fault, chain: MarkovChain, before: Float64Array): Oracle {
    const oracle = this.#oracles.get(fault) ?? new Oracle(chain, before, threshold);
    this.#oracles.set(fault, oracle);
    return oracle;
  }
}

function slowdownOf({ share, factorAt }: Fault, window: number) {
  return { share, factor: factorAt(window) };
}
