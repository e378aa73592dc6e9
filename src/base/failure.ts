/** The message of whatever was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** A promise that rejects when something fails for good. Nobody has to await it. */
export class Failure {
  readonly promise: Promise<never>;
  reject: (error: unknown) => void = () => undefined;

  constructor() {
    this.promise = new Promise((_, reject) => {
      this.reject = reject;
    });
    this.promise.catch(() => undefined);
  }
}
