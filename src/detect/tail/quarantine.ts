import type { SeriesWindow } from '../../series/series-window.ts';
import { serializeSeriesWindow } from '../../series/snapshot-series.ts';
import type { StateArchive } from '../../snapshot/archive.ts';
import { quarantineWindows } from '../options/detect-options.ts';

/** A window that has not been learnt yet. */
export interface Quarantined {
  window: SeriesWindow;
  learnable: boolean;
  readonly suspicious: boolean;
}

/** Windows of a series that have not been learnt yet, oldest first: the last ones, and older held ones. */
export class Quarantine {
  #last: Quarantined[] = [];
  /** Older windows, held back from the baseline while they may belong to a fault. */
  #held: Quarantined[] = [];

  /** Last windows: six at most, as long as `release` follows each `add`. */
  get windows(): SeriesWindow[] {
    return this.#last.map(({ window }) => window);
  }

  add(window: SeriesWindow, suspicious: boolean): void {
    this.#last.push({ window, learnable: true, suspicious });
  }

  /** Moves the oldest of the last windows to the held ones, and returns it; undefined if none is surplus. */
  release(): Quarantined | undefined {
    const entry = this.#last.length > quarantineWindows ? this.#last.shift() : undefined;
    if (entry !== undefined) this.#held.push(entry);
    return entry;
  }

  /** Removes the held windows that began before `fromMs`. */
  *before(fromMs: number): Generator<Quarantined, void> {
    for (let held = this.#held[0]; held !== undefined; held = this.#held[0]) {
      if (held.window.windowStartMs >= fromMs) return;
      this.#held.shift();
      yield held;
    }
  }

  /** Marks the windows from `fromMs` on as not to be learnt, and returns those that were. */
  withdraw(fromMs: number): SeriesWindow[] {
    const entries = [...this.#held, ...this.#last].filter(
      ({ learnable, window }) => learnable && !(window.windowStartMs < fromMs),
    );
    for (const entry of entries) entry.learnable = false;
    return entries.map(({ window }) => window);
  }

  /** Removes a stage from all windows. */
  dropStage(stage: string): void {
    for (const entry of [...this.#last, ...this.#held]) {
      const stages = new Map(entry.window.stages);
      stages.delete(stage);
      entry.window = { ...entry.window, stages };
    }
  }

  serialize(state: StateArchive): void {
    state.section('quarantine', 1, () => {
      const serialize = (entry: Quarantined | undefined) => ({
        window: serializeSeriesWindow(state, entry?.window),
        learnable: state.flag(entry?.learnable ?? false),
        suspicious: state.flag(entry?.suspicious ?? false),
      });
      this.#last = state.list(this.#last, serialize);
      this.#held = state.list(this.#held, serialize);
    });
  }
}
