import type { AnomalyEvent } from '../../contract/anomaly-event.ts';
import { durationText, formatRatio, formatShare } from '../../contract/format.ts';
import { criticalFrom } from './severity.ts';

type Reasoned = Pick<AnomalyEvent, 'kind' | 'ratio' | 'rate' | 'slo' | 'affected_share'>;

/**
 * The rule that made an anomaly critical, in numbers of that time: "12 % of all requests affected, 2.8x the
 * baseline; critical from 5 % and 2.0x".
 */
export function riseReason({ kind, ratio, rate, slo, affected_share }: Reasoned): string {
  if (kind === 'throughput_drop' && rate !== undefined) {
    return `${formatShare(rate.ratio)} of the requests left; critical up to 10 %`;
  }
  if (slo !== undefined) {
    const spans = [slo.long_ms, slo.short_ms].map(durationText).join(' and the last ');
    return `the error budget burns ${slo.burn_rate}x too fast or more over ${spans}`;
  }
  const times = rate?.ratio ?? ratio;
  return shareReason(affected_share ?? 0, times, `${formatRatio(times)} the baseline`);
}

/** @param ratio least one of what is affected, which `ratioText` says. */
export function shareReason(share: number, ratio: number, ratioText: string): string {
  const affected = `${formatShare(share)} of all requests affected`;
  const rule = [criticalFrom.wide, criticalFrom.deep].find(
    (least) => ratio >= least.ratio && share >= least.share,
  );
  // A part that is a second cause counts by what it does to whole requests, which the event has no number of.
  if (rule === undefined) return affected;
  return `${affected}, ${ratioText}; critical from ${formatShare(rule.share)} and ${formatRatio(rule.ratio)}`;
}
