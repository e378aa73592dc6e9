import { type AnomalyEvent, type Blamed, unaccounted } from './anomaly-event.ts';
import { splitOf } from './blame-split.ts';
import {
  formatExactShare,
  formatSignedMs,
  quantileName,
  signedPercent,
  wholePercent,
} from './format.ts';
import { perUnit } from './measure-unit.ts';

/** Part of all that rose from which a stage is listed by name, and the rest is listed. */
const shown = { stage: 0.05, rest: 0.02 } as const;
const stagesShown = 4;

type Split = Pick<AnomalyEvent, 'blame' | 'kind' | 'quantile' | 'evidence'>;

/** The stage to blame, which titles, messages and the place to look at are about. */
export function blamedStage({ blame, stage }: Pick<AnomalyEvent, 'blame' | 'stage'>): string {
  return blame[0]?.stage ?? stage;
}

/**
 * The rise that the blame splits: of the mean of the slowest requests, of all requests of a drift or of a
 * milestone, or of the quantile of the part that was measured.
 */
export function riseOf(blame: readonly Blamed[]): number {
  return blame.reduce((sum, { excess_ms }) => sum + excess_ms, 0);
}

/** Requests whose mean is split: "slowest 1 %", "requests of a day". */
export function wholeOf({ isDrift, quantile }: { isDrift: boolean; quantile: number }): string {
  return isDrift ? 'requests of a day' : `slowest ${formatExactShare(1 - quantile)}`;
}

/** "slowest 1 %: mean +254 ms": the rise that each share is a part of. */
export function riseText({ blame, kind, quantile, evidence }: Split): string {
  const rise = formatSignedMs(riseOf(blame));
  const { measured_stage: measured } = evidence;
  const split = splitOf({ blame, evidence });
  if (split === 'quantile') {
    return `${quantileName(quantile)} of ${measured} ${rise}${perUnit(measured)}`;
  }
  if (split === 'milestone') return `all requests: mean ${measured} ${rise}`;
  return `${wholeOf({ isDrift: kind === 'drift', quantile })}: mean ${rise}`;
}

/** "slowest 1 %: mean +254 ms; features +294 ms (100 % of what rose), queue −39.1 ms"; '' without blame. */
export function blameText(event: Split): string {
  const { blame } = event;
  if (blame.length === 0) return '';
  if (splitOf(event) === 'quantile') return riseText(event);
  const risenMs = blame.reduce((sum, { excess_ms }) => sum + Math.max(0, excess_ms), 0);
  const hasFallen = riseOf(blame) < (1 - shown.rest) * risenMs;
  // Made of milliseconds, as events of earlier versions have other shares.
  const textOf = (stage: string, ms: number) => {
    // The mean rose by less where other stages fell.
    const of = hasFallen && stage === blame[0]?.stage ? ' of what rose' : '';
    const share = ms > 0 ? ` (${wholePercent(ms / risenMs)}${of})` : '';
    return `${stageText(stage)} ${formatSignedMs(ms)}${share}`;
  };
  const listed = blame
    .filter(({ excess_ms }) => Math.abs(excess_ms) >= shown.stage * risenMs)
    .slice(0, stagesShown);
  const rest = blame.filter((part) => !listed.includes(part));
  const parts = listed.map(({ stage, excess_ms }) => textOf(stage, excess_ms));
  const restMs = riseOf(rest);
  if (Math.abs(restMs) >= shown.rest * risenMs) parts.push(textOf('rest', restMs));
  return `${riseText(event)}; ${parts.join(', ')}`;
}

/** "total p99 +8 %, first_token p99 +420 %": what users wait for, where only a stage was measured. */
export function effectsText({ effects = [], quantile }: AnomalyEvent): string {
  return effects
    .map(({ stage, ratio }) => `${stage} ${quantileName(quantile)} ${signedPercent(ratio)}`)
    .join(', ');
}

/** The stage's name, as it is read in a sentence. */
export function stageText(stage: string): string {
  return stage === unaccounted ? 'unaccounted time' : stage;
}
