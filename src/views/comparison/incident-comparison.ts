import type { Comparison, NamedIncident } from '../../compare/comparison.ts';
import type { AnomalyEvent } from '../../contract/anomaly-event.ts';
import type { ComparedTimes, TimeSpan } from '../../contract/compared-times.ts';
import { ofWorstSeries } from '../../contract/worst-series.ts';
import { shownRange } from '../../sink/anomalies/explanation.ts';
import { evidenceOf } from '../text/evidence.ts';
import type { AskedSide } from './compared-blocks.ts';

/** What a comparison is precise to: sides have whole minutes. */
const slackMs = 60_000;

/** True where B is of the time of the incident, and A lies before it: then its test applies. */
export function isOfIncident(event: AnomalyEvent, a: AskedSide, b: AskedSide, nowMs: number) {
  const { fromMs, toMs } = shownRange(event, nowMs);
  const isWithin = b.fromMs >= fromMs - slackMs && b.toMs <= toMs + slackMs;
  return a.version === b.version && isWithin && a.toMs <= fromMs;
}

/** The incident of a comparison, as answers and commands name it. */
export function namedIncident(
  { id, state }: AnomalyEvent,
  times: ComparedTimes | undefined,
  a: TimeSpan,
): NamedIncident {
  return { id, is_open: state !== 'resolved', a_is: placeText(times, a) };
}

/** What A is, in words. */
function placeText(times: ComparedTimes | undefined, a: TimeSpan): string {
  const isFound = times?.a.fromMs === a.fromMs && times.a.toMs === a.toMs;
  if (!isFound) return 'a time before it';
  return {
    'next to it': 'the time right before it',
    nearest: 'the nearest time before it that is in no other incident of these requests',
    shorter: 'the longest time before it that is stored and in no other incident of these requests',
  }[times.place];
}

/** What an incident of each kind has shown. */
const findings: Readonly<Record<AnomalyEvent['kind'], string>> = {
  tail_shift: 'B is slower',
  drift: 'B is slower',
  error_rate: 'B fails more often',
  slo_burn: 'B burns its error budget',
  cold_starts: 'B has more cold starts',
  throughput_drop: 'B has fewer requests',
  no_data: 'B has no requests',
  pipeline: 'B is not measured',
};

/** "B is slower, by the test of the incident". */
export const incidentFinding = ({ kind }: AnomalyEvent) =>
  `${findings[kind]}, by the test of the incident`;

/**
 * A comparison with what the incident has shown in place of the verdict of releases: they may differ, as the
 * incident knows hours of the past, and its test needs less time.
 */
export function asOfIncident<Compared extends Comparison>(
  compared: Compared,
  event: AnomalyEvent,
): Compared {
  const { sentences } = evidenceOf(event);
  const evidence = [sentences[0], sentences.at(-1)].filter((text) => text !== undefined);
  const { rate, quantile } = ofWorstSeries(event);
  const ratio = compared.quantiles.find(({ q }) => q === quantile)?.ratio ?? null;
  const isAsSlow = rate === undefined && ratio !== null && ratio <= 1;
  const note = isAsSlow ? ['A was as slow, and is not that baseline'] : [];
  const reason = [`${incidentFinding(event)}: ${evidence.join('; ')}`, ...note].join('. ');
  return { ...compared, verdict: 'fail', missing_requests: 0, reason };
}
