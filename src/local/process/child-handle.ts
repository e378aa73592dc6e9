export interface ChildExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A program that ends with this process at the latest. */
export interface ChildHandle {
  /** Process id of the program itself. */
  readonly pid: number;
  /** Resolves when it exits; never rejects. */
  readonly exited: Promise<ChildExit>;
  /** Stops it, by force after the grace; resolves when it has exited. May be called again. */
  stop(): Promise<void>;
}
