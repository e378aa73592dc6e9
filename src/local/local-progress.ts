/** Progress of the local stack, for the person who starts it. */
export interface LocalProgress {
  readonly part: 'kafka' | 'clickhouse';
  readonly state: 'fetching' | 'starting' | 'ready';
  /** A few words without a full stop: "starting the broker". */
  readonly text: string;
}

export type OnLocalProgress = (progress: LocalProgress) => void;
