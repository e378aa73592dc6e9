import { type AnomalyEvent, type Blamed, unaccounted } from './anomaly-event.ts';
import { formatExactShare, formatSignedMs, wholePercent } from './format.ts';

/** Share of the rise from which a stage is listed by name. */
const shownShare = 0.05;
const stagesShown = 4;

type Split = Pick<AnomalyEvent, 'blame' | 'kind' | 'quantile'>;

/** The stage to blame, which titles, messages and the place to look at are about. */
export function blamedStage({ blame, stage }: Pick<AnomalyEvent, 'blame' | 'stage'>): string {
  return blame[0]?.stage ?? stage;
}

/** The rise that the blame splits: of the mean of the slowest requests, or of all requests of a drift. */
export function riseOf(blame: readonly Blamed[]): number {
  return blame.reduce((sum, { excess_ms }) => sum + excess_ms, 0);
}

/** Requests whose mean is split: "slowest 1 %", "requests of a day". */
export function wholeOf({ isDrift, quantile }: { isDrift: boolean; quantile: number }): string {
  return isDrift ? 'requests of a day' : `slowest ${formatExactShare(1 - quantile)}`;
}

/** "slowest 1 %: mean +254 ms": the rise that each share is a part of. */
export function riseText({ blame, kind, quantile }: Split): string {
  return `${wholeOf({ isDrift: kind === 'drift', quantile })}: mean ${formatSignedMs(riseOf(blame))}`;
}

/** "slowest 1 %: mean +254 ms; features +294 ms (116 %), queue −39.1 ms (−15 %)"; '' without blame. */
export function blameText(event: Split): string {
  const { blame } = event;
  if (blame.length === 0) return '';
  const shown = blame.filter(({ share }) => Math.abs(share) >= shownShare).slice(0, stagesShown);
  const rest = blame.filter((part) => !shown.includes(part));
  const parts = shown.map((part) => blamedText(part));
  const share = rest.reduce((sum, part) => sum + part.share, 0);
  if (Math.abs(share) >= 0.01) {
    parts.push(blamedText({ stage: 'rest', excess_ms: riseOf(rest), share }));
  }
  return `${riseText(event)}; ${parts.join(', ')}`;
}

/** "features +294 ms (116 %)". */
function blamedText({ stage, excess_ms, share }: Blamed): string {
  return `${stageText(stage)} ${formatSignedMs(excess_ms)} (${wholePercent(share)})`;
}

/** The stage's name, as it is read in a sentence. */
export function stageText(stage: string): string {
  return stage === unaccounted ? 'unaccounted time' : stage;
}
