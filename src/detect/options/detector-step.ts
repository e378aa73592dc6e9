import type { AnomalyEvent } from '../../contract/anomaly-event.ts';
import type { SeriesWindow } from '../../series/series-window.ts';
import type { TestLevels } from './page-budget.ts';

/** An open anomaly as it is in a window. */
export interface PresentAnomaly {
  readonly event: AnomalyEvent;
  /** True where nothing shows it any more: it may be about to end. */
  readonly isClear: boolean;
}

/** Inputs of a step besides its window. */
export interface StepContext {
  readonly nowMs: number;
  readonly levels: TestLevels;
  /** Requests of all series in this window. */
  readonly totalRequests: number;
  /** False while history is replayed: nothing goes out, and nothing that went out is resolved. */
  readonly live: boolean;
  /**
   * False where part of the traffic was missing when the window was evaluated: its amount says nothing.
   *
   * @default {true}
   */
  readonly hasAllTraffic?: boolean;
  /** Start of the history behind baselines, while it is short: see `KnownHistory`. */
  readonly historyFromMs?: number | undefined;
  /** Receives each open anomaly as it is in this window, by its id; not while history is replayed. */
  readonly present?: Map<string, PresentAnomaly>;
}

/** All series of one window start on their way through the tests. */
export interface DetectorStep {
  readonly startMs: number;
  readonly context: StepContext;
  /** Windows of all series, evaluated or not; of the others perhaps only the whole requests. */
  readonly offered: readonly SeriesWindow[];
  /** The window of each series that has one and is evaluated, by its key. */
  readonly present: ReadonlyMap<string, SeriesWindow>;
}

/** Events of the series of one step, each list in the order of the series' keys. */
export interface SeriesEvents {
  readonly tails: readonly AnomalyEvent[];
  readonly failures: readonly AnomalyEvent[];
  readonly drifts: readonly AnomalyEvent[];
  /** Series with a window whose tail shift is open after it. */
  readonly openKeys: ReadonlySet<string>;
}
