export interface ChildExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A program that ends with this process at the latest. */
export interface ChildHandle {
  /** Process id of the program itself. */
  readonly pid: number;
  /** Resolves once, however it ends; never rejects. */
  readonly exited: Promise<ChildExit>;
  /** Ends it in order, by force after its grace; resolves when it is gone. May be called again. */
  stop(): Promise<void>;
}
