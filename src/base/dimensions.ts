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
