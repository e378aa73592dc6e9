/** Kinds of faults of a cycle. */
export const faultKinds = [
  'kill-ingester',
  'pause-ingester',
  'kill-clickhouse',
  'stall-clickhouse',
  'swallow-answers',
  'cut-connections',
  'delay-connections',
  'kill-broker',
  'restart-broker',
  'scale-1-4-2',
  'rolling-restart',
] as const;

export type FaultKind = (typeof faultKinds)[number];
