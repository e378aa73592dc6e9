/** What was done to the pipeline, and what the detector said of it. */
export interface SilencePhase {
  readonly round: number;
  readonly what: string;
  readonly lastedMs: number;
  /** Pages that nothing in the traffic is the cause of. */
  readonly falsePages: readonly string[];
  /** After what time a `pipeline` event was opened, and after its end resolved; undefined for never. */
  readonly warnedAfterMs: number | undefined;
  readonly overAfterMs: number | undefined;
  /** After what time a regression of the others was paged; undefined for none. */
  readonly pagedAfterMs: number | undefined;
  readonly hasRegression: boolean;
  /** Whether a `pipeline` event is due. */
  readonly isWarningDue: boolean;
  /** Messages that were not stored at its end, as the detector said and as the brokers and the ledger say. */
  readonly lag: { readonly reported: number; readonly isTrue: number };
}

export interface SilenceSummary {
  readonly seed: string;
  readonly rounds: number;
  readonly eventsPerSecond: number;
  readonly phases: readonly SilencePhase[];
  /** Worlds that were not run to their end, and why. */
  readonly broken: readonly string[];
}

/** A regression of what is not hit is to be paged within so long. */
const pagedWithinMs = 60_000;

/** What a phase got wrong; empty where it is as it should be. */
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

/** A line a phase, and one for each thing that it got wrong. */
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

/** One page: the phases, and the verdict. */
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
