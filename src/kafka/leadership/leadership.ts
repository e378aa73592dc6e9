/** Which of several processes does what only one of them may do at a time. */
export interface Leadership {
  /** Whether this process may go on with it right now. */
  isLeading(): boolean;
  /** Why it can neither lead nor stand by; empty when it can. */
  problems(): readonly string[];
  /** Rejects when it never will again. */
  readonly done: Promise<never>;
  /** Gives the lead back, if it has it. */
  stop(): Promise<void>;
}
