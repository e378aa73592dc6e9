import { type ReadonlySignal, signal } from '@preact/signals';

/** Time between two questions: data comes every ten seconds. */
export const pollMs = 5_000;
/** Longest time to wait before asking again, whatever a server says. */
const maxWaitMs = 60_000;
const timeoutMs = 30_000;

/** An error in the words of RFC 9457, or ours where there was no response. */
export interface Failure {
  readonly status: number | undefined;
  readonly text: string;
  readonly sinceMs: number;
  /** The kind of a name that is not stored, and the stored names, the most similar one first. */
  readonly names?: ProblemNames | undefined;
}

export interface ProblemNames {
  readonly unknown: string;
  readonly known: readonly string[];
}

/** State of an answer. `answer` is the last one, also while asking again fails. */
export interface Polled<Answer> {
  readonly answer: Answer | undefined;
  /** Time at which the server last knew that the answer is current. */
  readonly asOfMs: number | undefined;
  readonly failure: Failure | undefined;
  /** True if it can no longer change. */
  readonly isFinal: boolean;
}

/** An error of the API by RFC 9457. */
interface Problem {
  readonly detail?: unknown;
  readonly unknown?: unknown;
  readonly known?: unknown;
}

export interface PollPorts {
  readonly fetch: (path: string, init: RequestInit) => Promise<Response>;
  readonly nowMs: () => number;
  /** Calls back once, and returns what cancels it. */
  readonly after: (ms: number, run: () => void) => () => void;
}

/**
 * Asks an address again and again with its ETag, and keeps the last answer through errors. An answer that the
 * server calls immutable is asked for once; a mistake of the caller (4xx) too.
 */
export class Poll<Answer> {
  readonly #path: string;
  readonly #ports: PollPorts;
  readonly #state = signal<Polled<Answer>>({
    answer: undefined,
    asOfMs: undefined,
    failure: undefined,
    isFinal: false,
  });
  #etag: string | undefined;
  #cancel: () => void = () => undefined;
  #asking: AbortController | undefined;
  #isStopped = true;

  constructor(path: string, ports: PollPorts) {
    this.#path = path;
    this.#ports = ports;
  }

  get state(): ReadonlySignal<Polled<Answer>> {
    return this.#state;
  }

  /** Begins to ask. Does nothing where it has begun. */
  start(): void {
    if (!this.#isStopped) return;
    this.#isStopped = false;
    if (!this.#state.peek().isFinal) void this.#ask();
  }

  /** Asks at once instead of at the next turn. */
  refresh(): void {
    if (this.#isStopped || this.#asking !== undefined) return;
    this.#cancel();
    void this.#ask();
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancel();
    this.#asking?.abort();
    this.#asking = undefined;
  }

  async #ask(): Promise<void> {
    const asking = new AbortController();
    this.#asking = asking;
    const giveUp = this.#ports.after(timeoutMs, () => asking.abort());
    let waitMs: number | undefined = pollMs;
    try {
      const headers: Record<string, string> = { accept: 'application/json' };
      if (this.#etag !== undefined) headers['if-none-match'] = this.#etag;
      const response = await this.#ports.fetch(this.#path, { headers, signal: asking.signal });
      const next = await this.#read(response);
      if (this.#asking !== asking) return;
      this.#state.value = next.polled;
      waitMs = next.waitMs;
    } catch (error) {
      if (this.#asking !== asking) return;
      const text = asking.signal.aborted
        ? 'tailmark did not answer within 30 s'
        : error instanceof SyntaxError
          ? 'tailmark answered with what is no JSON'
          : 'tailmark cannot be reached';
      this.#state.value = this.#failed(undefined, text);
    } finally {
      giveUp();
    }
    this.#asking = undefined;
    if (!this.#isStopped && waitMs !== undefined) {
      this.#cancel = this.#ports.after(waitMs, () => void this.#ask());
    }
  }

  async #read(
    response: Response,
  ): Promise<{ readonly polled: Polled<Answer>; readonly waitMs: number | undefined }> {
    const ageMs = 1000 * Number(response.headers.get('age') ?? 0);
    const asOfMs = this.#ports.nowMs() - ageMs;
    const { answer } = this.#state.peek();
    if (response.status === 304 && answer !== undefined) {
      return { polled: { answer, asOfMs, failure: undefined, isFinal: false }, waitMs: pollMs };
    }
    if (response.ok) {
      const fresh = (await response.json()) as Answer;
      this.#etag = response.headers.get('etag') ?? undefined;
      const isFinal = /\bimmutable\b/.test(response.headers.get('cache-control') ?? '');
      const polled = { answer: fresh, asOfMs, failure: undefined, isFinal };
      return { polled, waitMs: isFinal ? undefined : pollMs };
    }
    const problem = (await response.json().catch(() => ({}))) as Problem;
    const text =
      typeof problem.detail === 'string' ? problem.detail : `tailmark answered ${response.status}`;
    const retryAfterMs = Number(response.headers.get('retry-after') ?? 0) * 1000;
    const isOurMistake = response.status >= 400 && response.status < 500 && response.status !== 429;
    // Not found may be found later: an anomaly or a model that is just being written.
    const waitMs =
      isOurMistake && response.status !== 404
        ? undefined
        : Math.min(Math.max(pollMs, retryAfterMs || 0), maxWaitMs);
    const { unknown, known } = problem;
    const names =
      typeof unknown === 'string' && Array.isArray(known)
        ? { unknown, known: known.map(String) }
        : undefined;
    return { polled: this.#failed(response.status, text, names), waitMs };
  }

  /** The last answer stays; a failure keeps the time of its beginning. */
  #failed(status: number | undefined, text: string, names?: ProblemNames): Polled<Answer> {
    const { answer, asOfMs, failure } = this.#state.peek();
    const sinceMs = failure?.sinceMs ?? this.#ports.nowMs();
    return { answer, asOfMs, failure: { status, text, sinceMs, names }, isFinal: false };
  }
}
