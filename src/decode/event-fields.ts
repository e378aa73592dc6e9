import { type Dimension, dimensions } from '../base/dimensions.ts';
import { amountFacets } from '../base/facets.ts';

/** Kinds of fields, small integers for the scanner's switch. */
export const fieldKinds = {
  ts: 0,
  dimension: 1,
  status: 2,
  coldStart: 3,
  cacheHit: 4,
  partial: 5,
  /** A number that is a facet. */
  amount: 6,
  totalMs: 7,
  stagesMs: 8,
  id: 9,
  traceId: 10,
  weight: 11,
  milestonesMs: 12,
  /** Gaps between tokens. */
  itlMs: 13,
  attributes: 14,
} as const;

export interface EventField {
  readonly name: string;
  readonly kind: number;
  /** Index of a dimension, or of an amount among `amountFacets`; -1 for other fields. */
  readonly slot: number;
}

const field = (name: string, kind: number, slot = -1): EventField => ({ name, kind, slot });
const dimension = (name: Dimension) => field(name, fieldKinds.dimension, dimensions.indexOf(name));

/** Fields that the scanner knows: those of the contract, which a test holds. */
export const eventFields: readonly EventField[] = [
  field('ts', fieldKinds.ts),
  dimension('model'),
  dimension('version'),
  dimension('request_type'),
  dimension('region'),
  dimension('service'),
  dimension('host'),
  dimension('tenant'),
  field('id', fieldKinds.id),
  field('trace_id', fieldKinds.traceId),
  field('status', fieldKinds.status),
  field('cold_start', fieldKinds.coldStart),
  field('cache_hit', fieldKinds.cacheHit),
  ...amountFacets.map((name, slot) => field(name, fieldKinds.amount, slot)),
  field('weight', fieldKinds.weight),
  field('attributes', fieldKinds.attributes),
  field('total_ms', fieldKinds.totalMs),
  field('stages_ms', fieldKinds.stagesMs),
  field('milestones_ms', fieldKinds.milestonesMs),
  field('itl_ms', fieldKinds.itlMs),
  field('partial', fieldKinds.partial),
];
