import { type DimensionName, overflowValue } from '../../base/dimensions.ts';
import type { ReceiverMatch } from '../../config/alert.ts';
import type { Config } from '../../config/schema.ts';
import { matchOf } from '../../config/slos.ts';
import { type AnomalyEvent, anomalyEventSchema } from '../../contract/anomaly-event.ts';
import { matchesPattern } from '../../series/matches-pattern.ts';
import { wantedValues } from './matches.ts';

type Kind = AnomalyEvent['kind'];
type Settings = Pick<Config, 'windows' | 'detect' | 'limits'>;

/** Properties that anomalies of one kind can have. */
interface KindFacts {
  /** Dimensions of its anomalies; in all others they have no value. */
  readonly has: (dimension: DimensionName) => boolean;
  readonly mayBeCritical: boolean;
}

const anySeries: KindFacts = { has: () => true, mayBeCritical: true };
const anyModel: KindFacts = { has: (dimension) => dimension === 'model', mayBeCritical: true };

const kindFacts: Readonly<Record<Kind, KindFacts>> = {
  tail_shift: anySeries,
  error_rate: anySeries,
  cold_starts: anySeries,
  throughput_drop: anyModel,
  no_data: anyModel,
  slo_burn: {
    // Those that its objective names.
    has: () => true,
    mayBeCritical: true,
  },
  // It compares all versions with the week before, and at most warns.
  drift: { has: (dimension) => dimension !== 'version', mayBeCritical: false },
  // It is tailmark's own.
  pipeline: { has: () => false, mayBeCritical: false },
};

/** The reason why a receiver can never get anything with this configuration; undefined where it can. */
export function neverMatches(match: ReceiverMatch, settings: Settings): string | undefined {
  const kinds = match.kinds ?? anomalyEventSchema.shape.kind.options;
  const reasons = kinds.map((kind) => obstacleOf(kind, match, settings));
  if (reasons.includes(undefined)) return undefined;
  return [...new Set(reasons)].join('; ');
}

/** Reasons why a receiver that gets some of its kinds never gets the others. */
export function neverGets(match: ReceiverMatch, settings: Settings): string[] {
  if (neverMatches(match, settings) !== undefined) return [];
  const reasons = (match.kinds ?? []).map((kind) => obstacleOf(kind, match, settings));
  return [...new Set(reasons)].filter((reason) => reason !== undefined);
}

/** The reason why anomalies of a kind never match. A reason that holds for every kind is found first. */
function obstacleOf(kind: Kind, match: ReceiverMatch, settings: Settings): string | undefined {
  const { windows, limits, detect } = settings;
  const named = wantedValues(match).map(([dimension, wanted]) => ({ dimension, wanted }));
  for (const { dimension, wanted } of named) {
    const isEmptyWanted = wanted.some((pattern) => matchesPattern(pattern, ''));
    if (!windows.dimensions.includes(dimension) && !isEmptyWanted) {
      return `${dimension} is not one of windows.dimensions, so no series has a value of it`;
    }
    const most = limits.max_dimension_bytes;
    if (wanted.every((pattern) => !fits(pattern, most))) {
      return `a value of ${dimension} has at most ${most} bytes (limits.max_dimension_bytes)`;
    }
  }
  const { has, mayBeCritical } = kindFacts[kind];
  if (match.severity === 'critical' && !mayBeCritical) return `kind ${kind} is never critical`;
  if (kind === 'slo_burn' && detect.slos.length === 0) {
    return 'kind slo_burn needs detect.slos, which has none';
  }
  const alien = named.find(
    ({ dimension, wanted }) =>
      !has(dimension) && !wanted.some((pattern) => matchesPattern(pattern, '')),
  );
  if (alien !== undefined) return `kind ${kind} has no ${alien.dimension}`;
  if (kind === 'slo_burn' && !detect.slos.some((slo) => mayMatch(match, slo))) {
    return 'no objective of detect.slos has such values';
  }
  return undefined;
}

function fits(pattern: string, maxBytes: number): boolean {
  const literal = pattern.replaceAll('*', '');
  return literal === overflowValue || Buffer.byteLength(literal) <= maxBytes;
}

/** True if anomalies of an objective may match; two patterns with `*` are assumed to. */
function mayMatch(match: ReceiverMatch, slo: Config['detect']['slos'][number]): boolean {
  const { model = '*', ...others } = matchOf(slo);
  const { models = ['*'] } = match;
  const isOfModel = models.some((pattern) =>
    model.includes('*')
      ? pattern.includes('*') || matchesPattern(model, pattern)
      : matchesPattern(pattern, model),
  );
  if (!isOfModel) return false;
  return wantedValues({ ...match, models: undefined }).every(([dimension, wanted]) => {
    const value = others[dimension as keyof typeof others] ?? '';
    // Where an objective has a pattern, its anomalies have no value.
    const own = value.includes('*') ? '' : value;
    return wanted.some((pattern) => matchesPattern(pattern, own));
  });
}
