/** A small record that a leader leaves for its successor, outside of ClickHouse. */
export interface Handover {
  /** Reads the last leader's record; undefined for none. @throws when it cannot be read */
  read(): Promise<unknown>;
  /**
   * Replaces what is left.
   *
   * @param value JSON; undefined for nothing.
   * @throws when this process does not lead any more, the value is too long, or Kafka is away
   */
  leave(value: unknown): Promise<void>;
}

/** Leader election for work that only one process may do at a time. */
export interface Leadership {
  /** True while this process may act as the leader. */
  isLeading(): boolean;
  /** Reasons why it can neither lead nor stand by; empty when it can. */
  problems(): readonly string[];
  /** Rejects when it can never lead again. */
  readonly done: Promise<never>;
  readonly handover: Handover;
  /** Gives up leadership. */
  stop(): Promise<void>;
}

/** Leadership of a process that has no standby. */
export const alwaysLeading: Leadership = {
  isLeading: () => true,
  problems: () => [],
  done: new Promise(() => undefined),
  handover: { read: async () => undefined, leave: async () => undefined },
  stop: async () => undefined,
};
