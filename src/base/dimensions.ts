/**
 * Dimensions of a series, each a column of every latency table, in the order of keys and columns.
 * `cold_start` is a boolean; all else are strings ('' if absent).
 */
export const dimensions = [
  'service',
  'model',
  'version',
  'request_type',
  'region',
  'host',
  'tenant',
  'cold_start',
] as const;

export type Dimension = (typeof dimensions)[number];

/**
 * Begins the names of a team's own dimensions and facets: `attributes.adapter` is the value `adapter` of an event's
 * `attributes`. All own dimensions of a series are one text in one column, `attributes`: src/series/attributes.ts.
 */
export const attributePrefix = 'attributes.';

export type AttributeName = `${typeof attributePrefix}${string}`;

/** A dimension that settings, selectors and events name. */
export type DimensionName = Dimension | AttributeName;

/** Pattern of a name in `attributes`. Neither `=` nor `,` is in it: they stand between names and values. */
export const attributeKeyPattern = /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/;

export const attributeRule =
  'be attributes.NAME, with a NAME of a letter and up to 63 letters, digits or "_.-"';

export function isAttributeName(name: string): name is AttributeName {
  return (
    name.startsWith(attributePrefix) && attributeKeyPattern.test(name.slice(attributePrefix.length))
  );
}

export function isDimensionName(name: string): name is DimensionName {
  return dimensions.some((known) => known === name) || isAttributeName(name);
}

/** Name of a value in an event's `attributes`. */
export function attributeKey(name: AttributeName): string {
  return name.slice(attributePrefix.length);
}

/** Label of an own dimension in Alertmanager, which takes no other characters. */
export function attributeLabel(name: AttributeName): string {
  return name.replaceAll(/[^A-Za-z0-9_]/g, '_');
}

/** Index of `cold_start`; its "id" is 0 or 1, not an interned string. */
export const coldStartIndex = dimensions.indexOf('cold_start');

/** Value under which values beyond a limit are counted, so that totals stay complete. */
export const overflowValue = '__other__';

/** Stage of a request's total. */
export const totalStage = 'total';

/** Pattern of a stage's name; it is not `total`. */
export const stageName = /^[A-Za-z][A-Za-z0-9_.:/-]{0,63}$/;

export const stageNameRule = `must have a name that matches ${stageName.source} and is not "${totalStage}"`;

export function isStageName(name: string): boolean {
  return stageName.test(name) && name !== totalStage;
}

/**
 * Pattern of the stages that are milestones by their name: the time from the start of a request to a point. All
 * others are parts of the total, which add up to it.
 */
export const milestoneName = /^(?:first_token|ttft|ttfb|time_to_.*)$/;

function isMilestoneName(name: string): boolean {
  return milestoneName.test(name);
}

/** Milestones that are the time to the first token. */
export const firstTokenNames = ['first_token', 'ttft', 'time_to_first_token'] as const;

/**
 * Measures: times per token, which no request takes. They have tails as stages have, and are neither parts nor
 * milestones. Ingest derives them from events with tokens, and the last one from each gap of `itl_ms`.
 */
export const measures = {
  timePerOutputToken: 'time_per_output_token',
  prefillPer1kInputTokens: 'prefill_per_1k_input_tokens',
  interTokenLatency: 'inter_token_latency',
} as const;

export const measureNames: readonly string[] = Object.values(measures);

/**
 * Stage whose samples are the gaps between tokens, of which a request has many. Its `requests` are gaps: it stands
 * for no requests, so neither detection nor a comparison of versions reads it.
 */
export const gapStage = measures.interTokenLatency;

/**
 * Begins the names of the rows that count a joint objective: requests, and as milliseconds those that missed it.
 * They stand among rows of stages and are none: `stageName` excludes the space, so no event has such a stage.
 */
export const objectivePrefix = 'objective: ';

/** Reports whether a stored row counts a joint objective. */
export function isObjectiveName(name: string): boolean {
  return name.startsWith(objectivePrefix);
}

/**
 * Begins the names under which a slow request's tokens stand among its stages, where it is kept: they are none, as
 * no event has a stage with a space.
 */
const sizePrefix = 'size: ';

/** Tokens of a kept request. */
export const tokenSizes = {
  input: `${sizePrefix}input_tokens`,
  output: `${sizePrefix}output_tokens`,
} as const;

export function isSizeName(name: string): boolean {
  return name.startsWith(sizePrefix);
}

export type StageKind = 'part' | 'milestone' | 'measure' | 'objective' | 'size';

/** Kind of an event's stage by its name alone. */
export function kindOfName(name: string): Exclude<StageKind, 'objective' | 'size'> {
  if (measureNames.includes(name)) return 'measure';
  return isMilestoneName(name) ? 'milestone' : 'part';
}

/** Stage that a milestone of `milestones_ms` is kept as: `headers` as `time_to_headers`. */
export function milestoneStage(name: string): string {
  return isMilestoneName(name) ? name : `time_to_${name}`;
}

/** Standard stages, in the order of a request. Any other name is allowed. */
export const standardStages = [
  'ingress',
  'queue',
  'parse',
  'features',
  'preprocess',
  'forward',
  'postprocess',
  'downstream',
  'egress',
] as const;

/**
 * Parts by exact name, in the order in which a request comes through them: the standard stages, and those of
 * presets and conversions.
 */
export const requestOrder: readonly string[] = [
  ...['ingress', 'blocked', 'connect', 'tls', 'sending'],
  ...['queue', 'batch_wait', 'batching', 'restore'],
  ...['parse', 'tokenize', 'features', 'preprocess'],
  ...['queue_prefill', 'prefill', 'forward', 'inference', 'infer', 'compute', 'decode'],
  ...['detokenize', 'postprocess', 'downstream', 'first_byte', 'receiving', 'egress'],
];

const placeByName: ReadonlyMap<string, number> = new Map(
  requestOrder.map((stage, place) => [stage, place]),
);

/**
 * Parts in the order in which a request comes through them. A stage of another name stays behind the one that it
 * follows in the event.
 *
 * @param parts as the event has them.
 */
export function inRequestOrder<T extends { readonly stage: string }>(parts: readonly T[]): T[] {
  let place = -1;
  const placed = parts.map((part) => {
    place = placeByName.get(part.stage) ?? place;
    return { part, place };
  });
  return placed.toSorted((a, b) => a.place - b.place).map(({ part }) => part);
}
