import type { Severity } from '../../contract/anomaly-event.ts';

export interface SeverityInput {
  /** True if what somebody waits for is slower: whole requests, a milestone or a measure, not only a part. */
  readonly isWaitedFor: boolean;
  /** Of what is waited for to its baseline. */
  readonly ratio: number;
  /** Share of all requests of all series that is slower than in the baseline. */
  readonly affectedShare: number;
  /** Share of the anomalous series' own requests that is. */
  readonly seriesShare: number;
  /** True where `evidence.history_from` is set: the baseline may lack what is normal every day. */
  readonly isHistoryShort: boolean;
  /** True where a part of the requests may show it every day: jobs make some slow or cold, and let none fail. */
  readonly isUsualInPart: boolean;
}

/** Least ratio, and least share of all traffic, of what is wide and of what is deep. */
export const criticalFrom = {
  wide: { ratio: 2, share: 0.05 },
  deep: { ratio: 5, share: 0.01 },
} as const;

/**
 * Severity of a slow tail or of a proportion; other kinds set their own. `critical` is what is wide or deep:
 * a tail that somebody waits for is at least twice the baseline and affects 5 % of all traffic, or five times
 * and 1 %. With a short history it must be deep in most requests of its series, as neither a daily peak nor an hourly job
 * is. Failures must be of most requests, or deep and wide. All others are a `warning`.
 */
export function severity(input: SeverityInput): Severity {
  const { ratio, affectedShare } = input;
  if (!input.isWaitedFor) return 'warning';
  const reaches = (least: { readonly ratio: number; readonly share: number }) =>
    ratio >= least.ratio && affectedShare >= least.share;
  const [wide, deep] = [reaches(criticalFrom.wide), reaches(criticalFrom.deep)];
  const most = input.seriesShare >= 0.5;
  const isUnusual = input.isUsualInPart ? deep && most : (deep && wide) || most;
  const isCritical = (wide || deep) && (isUnusual || !input.isHistoryShort);
  return isCritical ? 'critical' : 'warning';
}
