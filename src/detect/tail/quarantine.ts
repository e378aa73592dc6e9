import type { SeriesWindow } from '../../series/series-window.ts';
import { serializeSeriesWindow } from '../../series/snapshot-series.ts';
import type { StateArchive } from '../../snapshot/archive.ts';
import { quarantineWindows } from '../options/detect-options.ts';

/** A window that waits to be learnt. */
export interface Quarantined {
  readonly window: SeriesWindow;
  learnable: boolean;
  readonly suspicious: boolean;
}

/** Windows of a series that are not learnt yet, oldest first: the last ones, and those held behind them. */
export class Quarantine {
  #last: Quarantined[] = [];
  /** Behind the last ones: the baseline waits to learn them while they may be of a fault. */
  #held: Quarantined[] = [];

  /** The last windows, six at most once one is released with each that is added. */
  get windows(): SeriesWindow[] {
    return this.#last.map(({ window }) => window);
  }

  add(window: SeriesWindow, suspicious: boolean): void {
    this.#last.push({ window, learnable: true, suspicious });
  }

  /** The oldest window, held from now on; undefined while there is none too many. */
  release(): Quarantined | undefined {
    const entry = this.#last.length > quarantineWindows ? this.#last.shift() : undefined;
    if (entry !== undefined) this.#held.push(entry);
    return entry;
  }

  /** Takes out the windows held that began before then. */
  *before(fromMs: number): Generator<Quarantined, void> {
    for (let held = this.#held[0]; held !== undefined; held = this.#held[0]) {
      if (held.window.windowStartMs >= fromMs) return;
      this.#held.shift();
      yield held;
    }
  }

  /** Windows from then on that were to be learnt: none of them is any more. */
  withdraw(fromMs: number): SeriesWindow[] {
    const entries = [...this.#held, ...this.#last].filter(
      ({ learnable, window }) => learnable && !(window.windowStartMs < fromMs),
    );
    for (const entry of entries) entry.learnable = false;
    return entries.map(({ window }) => window);
  }

  /** A stage that is not judged any more is not learnt either. */
  dropStage(stage: string): void {
    this.#last = this.#last.map((entry) => withoutStage(entry, stage));
    this.#held = this.#held.map((entry) => withoutStage(entry, stage));
  }

  serialize(state: StateArchive): void {
    state.section('quarantine', 1, () => {
      const serialize = (entry: Quarantined | undefined) => serializeQuarantined(state, entry);
      this.#last = state.list(this.#last, serialize);
      this.#held = state.list(this.#held, serialize);
    });
  }
}

function serializeQuarantined(state: StateArchive, entry: Quarantined | undefined): Quarantined {
  return {
    window: serializeSeriesWindow(state, entry?.window),
    learnable: state.flag(entry?.learnable ?? false),
    suspicious: state.flag(entry?.suspicious ?? false),
  };
}

function withoutStage(entry: Quarantined, stage: string): Quarantined {
  const stages = new Map(entry.window.stages);
  stages.delete(stage);
  return { ...entry, window: { ...entry.window, stages } };
}
