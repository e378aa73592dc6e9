/** Faults of a round of the silence run, in order. */
export const silenceFaults = [
  'clickhouse-stopped',
  'ingest-stopped',
  'ingester-paused',
  'partition-old',
] as const;

export type SilenceFault = (typeof silenceFaults)[number];
