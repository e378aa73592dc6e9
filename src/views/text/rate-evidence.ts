import type { AnomalyEvent, Rate } from '../../contract/anomaly-event.ts';
import {
  durationText,
  formatCount,
  formatExactShare,
  formatMs,
  formatPerSecond,
  formatRatio,
  formatShare,
  quantileName,
} from '../../contract/format.ts';
import { thresholdsOfEvent, thresholdsText } from '../../contract/objectives/objective-text.ts';
import type { TimelinePoint } from '../../sink/anomalies/explanation.ts';
import {
  baselineSentence,
  chanceFacts,
  type EvidenceText,
  measuredSentences,
  windowsFact,
} from './chance-facts.ts';
import { expectedCount, visible } from './format.ts';

interface Measure {
  readonly title: string;
  /** Value of a point, in the unit of the event. */
  readonly measure: (point: TimelinePoint) => number;
  readonly format: (value: number) => string;
}

/** Measures of rates by their unit. Events of other units and of none are about a quantile. */
const measures: Readonly<Partial<Record<Rate['unit'], Measure>>> = {
  'failures per request': {
    title: 'failed requests',
    measure: ({ failed, requests }) => failed / Math.max(1, requests),
    format: formatShare,
  },
  'cold starts per request': {
    title: 'cold starts',
    measure: ({ cold_starts, requests }) => cold_starts / Math.max(1, requests),
    format: formatShare,
  },
  'requests per second': {
    title: 'traffic',
    measure: ({ requests, step_seconds }) => requests / step_seconds,
    format: formatPerSecond,
  },
};

interface Measurable extends Pick<AnomalyEvent, 'rate' | 'quantile'> {
  readonly measured_stage: string;
}

/** Measure that the timeline of an event shows. */
export function measureOf(event: AnomalyEvent): Measure {
  return measureOfSeries({ ...event, measured_stage: event.evidence.measured_stage });
}

/** Measure of a series: its rate, or the quantile of a stage. */
export function measureOfSeries({ rate, quantile, measured_stage }: Measurable): Measure {
  const title = `${quantileName(quantile)} of ${measured_stage}`;
  const tail = { title, measure: (point: TimelinePoint) => point.quantile_ms, format: formatMs };
  return (rate && measures[rate.unit]) ?? tail;
}

export function baselineText(event: AnomalyEvent): string {
  const isTail = event.rate === undefined || event.rate.unit === 'errors per request';
  return measureOf(event).format(isTail ? event.baseline_ms : (event.rate?.baseline ?? 0));
}

/** The spent part of an objective's budget, and the rule that is broken. */
function burnEvidence(event: AnomalyEvent, rate: Rate): EvidenceText {
  const { slo, evidence } = event;
  if (slo === undefined) return { sentences: [], statistics: [] };
  const [low, high] = rate.interval;
  const [long, short] = [durationText(slo.long_ms), durationText(slo.short_ms)];
  return {
    sentences: [
      `${formatCount(evidence.exceedances)} of ${formatCount(event.requests)} requests in ${long} were bad; ${expectedCount(evidence.expected)} allowed`,
      `objective: ${formatExactShare(slo.objective)} of requests take at most ${thresholdsText(thresholdsOfEvent(slo))} and do not fail (${visible(slo.name)})`,
      `bad requests: ${formatShare(rate.observed)} (95 % interval ${formatShare(low)} to ${formatShare(high)}), ${formatRatio(rate.ratio)} the allowed share`,
      ...measuredSentences(event),
    ],
    statistics: [
      {
        label: 'Burn rate threshold',
        text: `${slo.burn_rate}x, over ${long} and over the last ${short}`,
      },
    ],
  };
}

export function rateEvidence(event: AnomalyEvent, rate: Rate): EvidenceText {
  if (rate.unit === 'errors per request') return burnEvidence(event, rate);
  const { p_value, alpha, dispersion, windows, exceedances, expected, baseline_windows } =
    event.evidence;
  const text = measureOf(event).format;
  const [low, high] = rate.interval;
  const isFailures = rate.unit === 'failures per request';
  const did = isFailures ? 'failed' : 'were cold starts';
  const seen =
    rate.unit === 'requests per second'
      ? `${formatCount(exceedances)} requests arrived; ${expectedCount(expected)} expected`
      : `${formatCount(exceedances)} of ${formatCount(event.requests)} requests ${did}; ${expectedCount(expected)} expected`;
  return {
    sentences: [
      seen,
      `rate: ${text(rate.observed)} (95 % interval ${text(low)} to ${text(high)}), baseline ${text(rate.baseline)}`,
      ...measuredSentences(event),
      baselineSentence(event.evidence),
    ],
    statistics: [
      ...chanceFacts({ p_value, alpha }),
      {
        label: 'Dispersion',
        text: `${dispersion.toPrecision(2)}x the variance expected by chance; the probability allows for it`,
      },
      windowsFact({ windows, baseline_windows }),
    ],
  };
}
