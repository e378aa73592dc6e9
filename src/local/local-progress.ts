/** What the local stack is doing, for a person who waits for it. */
export interface LocalProgress {
  readonly part: 'kafka' | 'clickhouse';
  readonly state: 'fetching' | 'starting' | 'ready';
  /** A few words without a full stop: "starting the broker". */
  readonly text: string;
}

export type OnLocalProgress = (progress: LocalProgress) => void;
