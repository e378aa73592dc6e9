/** Leader election for work that only one process may do at a time. */
export interface Leadership {
  /** True while this process may act as the leader. */
  isLeading(): boolean;
  /** Reasons why it can neither lead nor stand by; empty when it can. */
  problems(): readonly string[];
  /** Rejects when it can never lead again. */
  readonly done: Promise<never>;
  /** Gives up leadership. */
  stop(): Promise<void>;
}

/** Leadership of a process that has no standby. */
export const alwaysLeading: Leadership = {
  isLeading: () => true,
  problems: () => [],
  done: new Promise(() => undefined),
  stop: async () => undefined,
};
