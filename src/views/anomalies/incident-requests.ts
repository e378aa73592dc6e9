import { attributeKey, isAttributeName, totalStage } from '../../base/dimensions.ts';
import type { AnomalyEvent } from '../../contract/anomaly-event.ts';
import { blamedStage } from '../../contract/blame-text.ts';
import { ofWorstSeries } from '../../contract/worst-series.ts';
import { attributePair } from '../../series/attributes.ts';
import type { Filters } from '../question.ts';

/** The slowest requests of an anomaly: over its time, by their time in one stage. */
export interface SlowestOf {
  readonly fromMs: number;
  readonly toMs: number;
  /** '' for their total. */
  readonly stage: string;
}

/** The requests that an anomaly is about: those of its series, or of what all its series have in common. */
export function requestsOf(event: AnomalyEvent): Filters {
  const { scope, model, cold_start: isCold } = event;
  const of = (wanted: 'version' | 'region' | 'request_type') =>
    scope === undefined
      ? event[wanted]
      : (scope.common.find(({ dimension }) => dimension === wanted)?.value ?? '');
  return {
    ...{ model, version: of('version'), region: of('region'), requestType: of('request_type') },
    ...ownPairs(event),
    start: isCold ? 'cold' : 'warm',
  };
}

/** Pairs of its own dimensions: of its series, or of what all its series have in common; absent without any. */
function ownPairs({ scope, attributes }: AnomalyEvent): Pick<Filters, 'attributePairs'> {
  const pairs =
    scope === undefined
      ? (attributes?.split(',') ?? [])
      : scope.common.flatMap(({ dimension, value }) =>
          isAttributeName(dimension) ? [attributePair(attributeKey(dimension), value)] : [],
        );
  return pairs.length === 0 ? {} : { attributePairs: pairs };
}

/**
 * Which of them are its slowest: in the stage to blame, of a burning budget by their total. Undefined where durations
 * say nothing: of failures, cold starts, traffic, and of tailmark itself.
 */
export function slowestOf(event: AnomalyEvent, nowMs: number): SlowestOf | undefined {
  const { rate, model, started_at, ended_at, resolved_at } = event;
  if (model === '') return undefined;
  if (rate !== undefined && rate.unit !== 'errors per request') return undefined;
  const stage = rate === undefined ? blamedStage(ofWorstSeries(event)) : totalStage;
  const fromMs = Date.parse(started_at);
  const endMs = resolved_at === null ? nowMs : Date.parse(ended_at ?? resolved_at);
  return { fromMs, toMs: Math.max(endMs, fromMs + 1), stage: stage === totalStage ? '' : stage };
}
