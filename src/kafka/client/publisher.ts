export interface OutgoingMessage {
  readonly key?: Buffer | string;
  readonly value: Buffer | string | null;
  readonly headers?: Readonly<Record<string, string | Buffer>>;
  readonly timestampMs?: number;
  readonly partition?: number;
}

/** Writes messages to topics: dead letters, anomalies, generated traffic. */
export interface Publisher {
  /** Resolves when every in-sync replica has the messages (acks=all). */
  publish(topic: string, messages: readonly OutgoingMessage[]): Promise<void>;
  close(): Promise<void>;
}
