import {
  attributeKey,
  type DimensionName,
  dimensions,
  isAttributeName,
  totalStage,
} from '../../base/dimensions.ts';
import { dayMs } from '../../base/time.ts';
import {
  type Match,
  matchOf,
  objectiveRow,
  type Slo,
  sloWindows,
  type Thresholds,
} from '../../config/slos.ts';
import { matchesPattern } from '../../series/matches-pattern.ts';
import { dimensionValue } from '../../series/series-key.ts';
import type { Series } from '../../series/series-window.ts';
import type { AnomalyEvent } from '../anomaly-event.ts';
import { formatExactShare } from '../format.ts';
import { thresholdsOfEvent, thresholdsText } from './objective-text.ts';

/** An objective: which part of requests must be good, and what good is. */
export interface Objective {
  /** Name in events. */
  readonly name: string;
  /** Target share of good requests. */
  readonly objective: number;
  /** Period of the error budget. */
  readonly windowMs: number;
  /** A request that takes longer in one of these stages, or fails, is bad. */
  readonly thresholds: Thresholds;
  /** True if requests are counted at ingest, in the row `objectiveRow`; else digests of the one stage tell. */
  readonly isJoint: boolean;
}

/** An objective of `detect.slos`, with what it matches. */
export interface ConfiguredObjective extends Objective {
  readonly match: Match;
}

/** Objectives as configured, in the same order. */
export function objectivesOf(slos: readonly Slo[]): ConfiguredObjective[] {
  return slos.map((slo) => {
    const { all, stage = totalStage, threshold = 0, objective } = slo;
    const unnamed = {
      objective,
      windowMs: sloWindows[slo.window],
      match: matchOf(slo),
      thresholds: all ?? { [stage]: threshold },
      isJoint: all !== undefined,
    };
    return { name: slo.name ?? nameOf(unnamed), ...unnamed };
  });
}

/** Joint objectives that may be of a model, in the order of `detect.slos`. */
export function jointObjectives(
  objectives: readonly ConfiguredObjective[],
  model: string,
): ConfiguredObjective[] {
  return objectives.filter(
    ({ isJoint, match }) => isJoint && matchesPattern(match.model ?? '*', model),
  );
}

/**
 * True if a count says something of a model: of some requests, or of an objective that names models. One that matches
 * by other dimensions alone, such as an adapter, may be of other models.
 */
export function saysOfModel({ match }: ConfiguredObjective, requests: number): boolean {
  const { model = '*', ...others } = match;
  return requests > 0 || model !== '*' || Object.keys(others).length === 0;
}

/** Stages beside the total whose digests tell of objectives. */
export function stagesOfObjectives(slos: readonly Slo[]): string[] {
  return slos.flatMap(({ stage = totalStage }) => (stage === totalStage ? [] : [stage]));
}

/** True if an objective is of the requests of a series. */
export function isOfSeries({ match }: Pick<ConfiguredObjective, 'match'>, series: Series): boolean {
  for (const name in match) {
    const dimension = name as DimensionName;
    if (!matchesPattern(match[dimension] ?? '*', dimensionValue(series, dimension))) return false;
  }
  return true;
}

/** The stage whose digests tell of a threshold, with the threshold; of a joint objective the first. */
export function ownThreshold({ thresholds }: Pick<Objective, 'thresholds'>) {
  const [[stage, thresholdMs] = [totalStage, 0]] = Object.entries(thresholds);
  return { stage, thresholdMs };
}

/** Name of the row that counts a joint objective. */
export function rowOf({ thresholds }: Pick<Objective, 'thresholds'>): string {
  return objectiveRow(thresholds);
}

/** The objective of an event, without what it matches: an event has the values of its own requests. */
export function objectiveOfEvent({ slo }: AnomalyEvent): Objective | undefined {
  if (slo === undefined) return undefined;
  const { name, objective, window_ms = sloWindows['30d'] } = slo;
  const thresholds = thresholdsOfEvent(slo);
  return { name, objective, windowMs: window_ms, thresholds, isJoint: slo.all !== undefined };
}

/** What an event says of its objective; `objectiveOfEvent` reads it. */
export function sloFields(objective: Objective) {
  const { name, isJoint, thresholds, windowMs } = objective;
  const { stage, thresholdMs } = ownThreshold(objective);
  return {
    ...{ name, objective: objective.objective },
    ...(isJoint ? { all: { ...thresholds } } : { threshold_ms: thresholdMs }),
    ...(!isJoint && stage !== totalStage && { stage }),
    ...(windowMs !== sloWindows['30d'] && { window_ms: windowMs }),
  };
}

/**
 * "99.9 % of rank* in 200 ms", "99 % of llm (region eu) meet first_token 500 ms, total 10 s over 7 d". The values
 * that the series of an event has are left out.
 */
function nameOf(unnamed: Omit<ConfiguredObjective, 'name'>): string {
  const { match, thresholds, windowMs, isJoint } = unnamed;
  const of = dimensions.flatMap((name) => {
    const value = match[name];
    if (value === undefined || name === 'model') return [];
    return name === 'request_type' && !value.includes('*') ? [] : [`${name} ${value}`];
  });
  for (const [name, value] of Object.entries(match)) {
    if (isAttributeName(name)) of.push(`${attributeKey(name)} ${value}`);
  }
  const where = of.length === 0 ? '' : ` (${of.join(', ')})`;
  const period = windowMs === sloWindows['30d'] ? '' : ` over ${windowMs / dayMs} d`;
  const good = `${isJoint ? 'meet' : 'in'} ${thresholdsText(thresholds)}`;
  return `${formatExactShare(unnamed.objective)} of ${match.model ?? '*'}${where} ${good}${period}`;
}
