/**
 * The dimensions a series can have, each a column of every latency table, in the order in which
 * keys and columns are written. `cold_start` is a boolean, the others are strings ('' if absent).
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

/** Index of `cold_start` among the dimensions; its "id" is 0 or 1 and names no string. */
export const coldStartIndex = dimensions.indexOf('cold_start');

/** Where a value beyond a limit is counted instead, so that no total is ever short. */
export const overflowValue = '__other__';

/** The stage under which a request's total is kept. */
export const totalStage = 'total';

/** Standard stages, in the order in which a request passes them. Any other name is allowed. */
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
