import { totalStage } from '../../base/dimensions.ts';
import type { AnomalyEvent, Rate } from '../../contract/anomaly-event.ts';
import { blamedStage, stageText } from '../../contract/blame-text.ts';
import {
  formatCount,
  formatExactShare,
  formatMs,
  formatMsOf,
  formatPerSecond,
  formatRatio,
  formatShare,
  quantileName,
} from '../../contract/format.ts';
import { perUnit, stageLabel } from '../../contract/measure-unit.ts';
import { thresholdsOfEvent, thresholdsText } from '../../contract/objectives/objective-text.ts';
import { cutText } from './clean-text.ts';

type Kind = AnomalyEvent['kind'];

/** Wording of one kind. Each takes an event whose names are clean. */
export interface KindWords {
  /** Its severity in numbers, for the title: "p99 512 ms, 2.1x its baseline, blame queue". */
  readonly headline: (event: AnomalyEvent) => string;
  /** The sentence of a recovery: "p99 back at its baseline". */
  readonly recovered: (event: AnomalyEvent) => string;
  /** The sentence of a new baseline: "p99 512 ms is now the baseline (was 244 ms)". */
  readonly rebaselined: (event: AnomalyEvent) => string;
  /** Everything that was measured. */
  readonly measured: (event: AnomalyEvent) => string;
  /** True where the detector's sentence adds to what was measured. */
  readonly summaryAdds: boolean;
  /** The place to look first when no stage is blamed. */
  readonly lookFirst: string;
}

/** The wording of each kind of anomaly. */
export const kindWords: Readonly<Record<Kind, KindWords>> = {
  tail_shift: {
    headline: (event) =>
      `${tailOf(event)} ${formatMs(event.observed_ms)}${perOf(event)}, ${formatRatio(event.ratio)} its baseline${blamed(event)}`,
    recovered: (event) => `${recoveredTail(event)} back at its baseline`,
    rebaselined: rebaselinedTail,
    measured: (event) => {
      const { observed_ms, interval_ms, baseline_ms, ratio } = event;
      const format = formatMsOf(observed_ms, baseline_ms);
      const range = rangeText(interval_ms, format);
      return `${longTailOf(event)} ${format(observed_ms)}${perOf(event)} (${range}), baseline ${format(baseline_ms)}${lender(event)}, ${formatRatio(ratio)}; ${requestsText(event)}`;
    },
    summaryAdds: false,
    lookFirst: 'traces of the slowest requests',
  },
  drift: {
    headline: (event) =>
      `${tailOf(event)} ${formatMs(event.observed_ms)}, ${formatRatio(event.ratio)} a week before${blamed(event)}`,
    recovered: (event) => `${tailOf(event)} back where it was`,
    rebaselined: rebaselinedTail,
    measured: (event) => {
      const { observed_ms, interval_ms, baseline_ms, ratio } = event;
      const format = formatMsOf(observed_ms, baseline_ms);
      const range = rangeText(interval_ms, format);
      return `${longTailOf(event)} over a day ${format(observed_ms)} (${range}), same hours a week before ${format(baseline_ms)}, ${formatRatio(ratio)}; ${requestsText(event)}`;
    },
    summaryAdds: false,
    lookFirst: 'releases and data growth of the last week',
  },
  error_rate: {
    headline: shareHeadline('fail'),
    recovered: () => 'failures back at their baseline',
    rebaselined: rebaselinedShare('fail'),
    measured: shareMeasured('fail'),
    summaryAdds: true,
    lookFirst: 'error logs and releases since the start',
  },
  cold_starts: {
    headline: shareHeadline('are cold starts'),
    recovered: () => 'cold starts back at their baseline',
    rebaselined: rebaselinedShare('are cold starts'),
    measured: shareMeasured('are cold starts'),
    summaryAdds: false,
    lookFirst: 'model loads: scaling, evictions, restarts',
  },
  throughput_drop: {
    headline: (event) =>
      withRate(event, ({ observed, baseline }) => {
        return `requests fell to ${formatPerSecond(observed)}, baseline ${formatPerSecond(baseline)}`;
      }),
    recovered: () => 'requests back at their baseline',
    rebaselined: rebaselinedTraffic,
    measured: (event) =>
      withRate(event, ({ observed, baseline, interval, ratio }) => {
        const range = rangeText(interval, formatPerSecond);
        return `requests ${formatPerSecond(observed)} (${range}), baseline ${formatPerSecond(baseline)}, ${formatShare(ratio)} of it left`;
      }),
    summaryAdds: false,
    lookFirst: 'clients, load balancer and whatever was released upstream',
  },
  no_data: {
    headline: (event) =>
      withRate(event, ({ baseline }) => `no requests, baseline ${formatPerSecond(baseline)}`),
    recovered: () => 'receives requests again',
    rebaselined: rebaselinedTraffic,
    measured: (event) =>
      withRate(event, ({ baseline }) => `no requests, baseline ${formatPerSecond(baseline)}`),
    summaryAdds: true,
    lookFirst: 'clients and load balancer, then the producers of timing events',
  },
  slo_burn: {
    headline: (event) =>
      withRate(event, ({ observed, ratio }) => {
        return `error budget burns ${formatRatio(ratio)} too fast, ${formatShare(observed)} bad`;
      }),
    recovered: () => 'error budget no longer burns too fast',
    rebaselined: () => 'error budget: this is now the baseline',
    measured: (event) =>
      withRate(event, ({ observed, interval, baseline, ratio }) => {
        const range = rangeText(interval, formatShare);
        return `${formatShare(observed)} of requests bad (${range}), allowed ${formatShare(baseline)}, burn rate ${formatRatio(ratio)}${objective(event)}; ${requestsText(event)}`;
      }),
    summaryAdds: true,
    lookFirst: 'open anomalies of this model: they name the stage',
  },
  pipeline: {
    // Its first clause: the others say what follows from it.
    headline: ({ summary }) => cutText(summary.split(/; |\. /)[0] ?? '', 110),
    recovered: () => 'keeps up again',
    rebaselined: () => 'keeps up again',
    measured: ({ summary }) => summary,
    summaryAdds: false,
    lookFirst: '/readyz and the log of the ingesters; models are not the cause',
  },
};

/** "p99", or "p95 of features" where only a stage is slow. */
function tailOf({ evidence, quantile }: AnomalyEvent): string {
  return tailText(evidence.measured_stage, quantile);
}

/** "p95 of features" where what was measured is slow for another reason still. */
function recoveredTail(event: AnomalyEvent): string {
  const { recovered } = event;
  return recovered === undefined ? tailOf(event) : tailText(recovered.stage, recovered.quantile);
}

function tailText(stage: string, quantile: number): string {
  const percentile = quantileName(quantile);
  return stage === totalStage ? percentile : `${percentile} of ${stageLabel(stage)}`;
}

/** " per token" where a time per token was measured. */
function perOf({ evidence }: AnomalyEvent): string {
  return perUnit(evidence.measured_stage);
}

/** "p99 of total". */
function longTailOf(event: AnomalyEvent): string {
  return `${quantileName(event.quantile)} of ${stageLabel(event.evidence.measured_stage)}`;
}

/** ", blame queue"; nothing where the measured stage is to blame itself. */
function blamed(event: AnomalyEvent): string {
  const stage = blamedStage(event);
  return stage === event.evidence.measured_stage ? '' : `, blame ${stageText(stage)}`;
}

/** " of version v1": the lender of the baseline, where the series is too young for its own. */
function lender({ evidence }: AnomalyEvent): string {
  const [first] = evidence.baseline_of ?? [];
  return first === undefined ? '' : ` of ${first.dimension.replace('_', ' ')} ${first.value}`;
}

function requestsText({ requests }: AnomalyEvent): string {
  return `${formatCount(requests)} requests`;
}

function rebaselinedTail(event: AnomalyEvent): string {
  const format = formatMsOf(event.observed_ms, event.baseline_ms);
  return `${tailOf(event)} ${format(event.observed_ms)} is now the baseline (was ${format(event.baseline_ms)})`;
}

function shareHeadline(verb: string) {
  return (event: AnomalyEvent) =>
    withRate(event, ({ observed, ratio }) => {
      return `${formatShare(observed)} of requests ${verb}, ${formatRatio(ratio)} the baseline`;
    });
}

function shareMeasured(verb: string) {
  return (event: AnomalyEvent) =>
    withRate(event, ({ observed, interval, baseline, ratio }) => {
      const range = rangeText(interval, formatShare);
      return `${formatShare(observed)} of requests ${verb} (${range}), baseline ${formatShare(baseline)}, ${formatRatio(ratio)}; ${requestsText(event)}`;
    });
}

function rebaselinedShare(verb: string) {
  return (event: AnomalyEvent) =>
    withRate(event, ({ observed, baseline }) => {
      return `${formatShare(observed)} of requests ${verb}: now the baseline (was ${formatShare(baseline)})`;
    });
}

function rebaselinedTraffic(event: AnomalyEvent): string {
  return withRate(event, ({ observed, baseline }) => {
    return `${formatPerSecond(observed)} is now the baseline (was ${formatPerSecond(baseline)})`;
  });
}

function objective({ slo }: AnomalyEvent): string {
  if (slo === undefined) return '';
  return `; objective ${slo.name}: ${formatExactShare(slo.objective)} within ${thresholdsText(thresholdsOfEvent(slo))}`;
}

/** The text of a rate; the detector's sentence for an event that has none. */
function withRate({ rate, summary }: AnomalyEvent, text: (rate: Rate) => string): string {
  return rate === undefined ? cutText(summary, 110) : text(rate);
}

/** "430 to 610 ms": the unit once where both have the same. */
function rangeText(
  [low, high]: readonly [number, number],
  format: (value: number) => string,
): string {
  const [from, to] = [format(low), format(high)];
  const unit = /^[\d.,]+(.*)$/.exec(to)?.[1] ?? '';
  const bare = unit !== '' && from.endsWith(unit) ? from.slice(0, -unit.length) : from;
  return `${/^[\d.,]+$/.test(bare) ? bare : from} to ${to}`;
}
