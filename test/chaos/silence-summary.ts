/** A fault of the pipeline, and the detector's events. */
export interface SilencePhase {
  readonly round: number;
  readonly what: string;
  readonly lastedMs: number;
  /** Pages without a cause in the traffic. */
  readonly falsePages: readonly string[];
  /**
   * Time until a `pipeline` event was opened, and from the fault's end until it was resolved; undefined for
   * never.
   */
  readonly warnedAfterMs: number | undefined;
  readonly overAfterMs: number | undefined;
  /** Time until a regression of the others was paged; undefined for none. */
  readonly pagedAfterMs: number | undefined;
  readonly hasRegression: boolean;
  /** True where a `pipeline` event is due. */
  readonly isWarningDue: boolean;
  /** Messages that were not stored at its end, by the detector and by the brokers and the ledger. */
  readonly lag: { readonly reported: number; readonly isTrue: number };
}

export interface SilenceSummary {
  readonly seed: string;
  readonly rounds: number;
  readonly eventsPerSecond: number;
  readonly phases: readonly SilencePhase[];
  /** Worlds that did not finish, and the reason. */
  readonly broken: readonly string[];
}

/** Longest time until a regression of unaffected partitions is paged. */
const pagedWithinMs = 60_000;

/** Lists the errors of a phase; empty where it is right. */
export function faultsOf(phase: SilencePhase): string[] {
  const { falsePages, hasRegression, pagedAfterMs, isWarningDue, warnedAfterMs, overAfterMs } =
    phase;
  const faults = falsePages.map((page) => `false page: ${page}`);
  if (hasRegression && (pagedAfterMs ?? Number.POSITIVE_INFINITY) > pagedWithinMs) {
    faults.push('the regression of the others was not paged within 60 s');
  }
  if (isWarningDue && warnedAfterMs === undefined) faults.push('no pipeline event');
  if (warnedAfterMs !== undefined && overAfterMs === undefined) {
    faults.push('the pipeline event was not resolved');
  }
  return faults;
}

export function isRight({ phases, broken }: SilenceSummary): boolean {
  return broken.length === 0 && phases.every((phase) => faultsOf(phase).length === 0);
}

/** Renders a line for the phase, and one for each of its errors. */
export function phaseLines(phase: SilencePhase): string[] {
  const seconds = (ms: number | undefined) => (ms === undefined ? '-' : (ms / 1000).toFixed(1));
  const cells = [
    [String(phase.round), 5],
    [phase.what.padEnd(20), 20],
    [seconds(phase.lastedMs), 6],
    [seconds(phase.warnedAfterMs), 12],
    [seconds(phase.overAfterMs), 10],
    [phase.hasRegression ? seconds(phase.pagedAfterMs) : '', 11],
    [String(phase.lag.reported), 8],
    [String(phase.lag.isTrue), 8],
    [String(phase.falsePages.length), 11],
  ] as const;
  const line = cells.map(([text, width]) => text.padStart(width)).join('  ');
  return [line, ...faultsOf(phase).map((fault) => `       ${fault}`)];
}

/** Renders one page: the phases, and the verdict. */
export function renderSilence(summary: SilenceSummary): string {
  const { seed, rounds, eventsPerSecond, phases, broken } = summary;
  const lines = [
    `seed ${seed}, ${rounds} rounds, ${eventsPerSecond} events/s; times in seconds`,
    'round  what                  lasted  warned after  over after  paged after  lag said  lag true  false pages',
    ...phases.flatMap(phaseLines),
    ...broken,
    `silence is no outage of ours: ${isRight(summary) ? 'it holds' : 'it does NOT hold'}`,
  ];
  return `${lines.join('\n')}\n`;
}
