import { Failure, messageOf } from '../../base/failure.ts';
import type { Leadership } from '../../kafka/leadership/leadership.ts';
import type { LastingError } from '../../sink/client/lasting-error.ts';
import type { RoleContext } from '../role.ts';
import { LeadershipLost } from './leadership-lost.ts';
import type { WindowEvaluator } from './window-evaluator.ts';

export interface LeaderLoopOptions extends Pick<RoleContext, 'log' | 'metrics' | 'signal'> {
  readonly intervalMs: number;
  /** Makes `stop` evaluate once more: at the end of a finite source everything is stored. */
  readonly evaluateAtEnd: boolean;
  readonly leadership: Leadership;
  /** Recognizes errors of steps that end the process. @default none */
  readonly lasting?: LastingError;
  /** Ends an evaluator's start. @default never */
  readonly signal?: AbortSignal | undefined;
  /** Further reasons why the role is not ready. @default none */
  readonly alsoProblems?: () => readonly string[];
  /** Called when the loop has ended. @default nothing */
  readonly onStop?: () => void;
}

/** Consecutive failed steps after which the role is not ready. */
const FAILURES_TOLERATED = 3;

/**
 * Runs an evaluator's steps at an interval while this process leads; a failed step is retried at the next
 * interval. On standby there is no evaluator: a new leader continues where the previous one stopped.
 */
export class LeaderLoop {
  readonly #makeEvaluator: (isLeading: () => boolean) => WindowEvaluator;
  readonly #options: LeaderLoopOptions;
  /** Exists while this process leads. */
  #evaluator: WindowEvaluator | undefined;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #stopped = false;
  /** True while a new leader loads its state or learns the past, which may take minutes. */
  #isStarting = false;
  #failures = 0;
  #lastError = '';
  readonly #failure = new Failure();

  /** @param makeEvaluator creates an evaluator that ends with `LeadershipLost` once `isLeading` is false. */
  constructor(
    makeEvaluator: (isLeading: () => boolean) => WindowEvaluator,
    options: LeaderLoopOptions,
  ) {
    this.#makeEvaluator = makeEvaluator;
    this.#options = options;
  }

  /** Rejects when the work can never continue. */
  get done(): Promise<never> {
    return Promise.race([this.#options.leadership.done, this.#failure.promise]);
  }

  /** Starts work at once if this process leads, else stands by. */
  async start(): Promise<void> {
    try {
      await this.#leadOrStandBy();
    } catch (error) {
      if (!(error instanceof LeadershipLost) || this.#options.signal?.aborted === true) throw error;
      this.#standBy();
    }
    this.#schedule();
  }

  /** Reasons why the detector is behind, or cannot stand by. */
  problems(): string[] {
    const { leadership, alsoProblems } = this.#options;
    const problems = [...leadership.problems(), ...(alsoProblems?.() ?? [])];
    if (this.#isStarting) problems.push('detect: it still loads its state or learns the past');
    if (this.#failures >= FAILURES_TOLERATED) {
      problems.push(`detect: ${this.#failures} consecutive steps failed: ${this.#lastError}`);
    }
    return [...problems, ...(this.#evaluator?.problems() ?? [])];
  }

  notes(): string[] {
    return this.#evaluator?.notes() ?? [];
  }

  /** Resolves after the current step and its deliveries; then another process may lead. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#running;
    if (this.#options.evaluateAtEnd) await this.#step();
    await this.#evaluator?.flush().catch(() => undefined);
    this.#options.onStop?.();
    await this.#options.leadership.stop();
  }

  #schedule(): void {
    if (this.#stopped) return;
    this.#timer = setTimeout(() => {
      this.#running = this.#step().finally(() => this.#schedule());
    }, this.#options.intervalMs);
  }

  async #step(): Promise<void> {
    try {
      await this.#leadOrStandBy();
      await this.#evaluator?.step();
      this.#failures = 0;
      this.#options.lasting?.succeeded();
    } catch (error) {
      if (error instanceof LeadershipLost) return this.#standBy();
      this.#failures++;
      this.#lastError = messageOf(error);
      this.#options.log.warn(
        { err: this.#lastError, failures: this.#failures },
        'detection step failed; retrying',
      );
      const last = this.#options.lasting?.failed(error, performance.now());
      if (last !== undefined) this.#failure.reject(last);
    }
  }

  async #leadOrStandBy(): Promise<void> {
    const { leadership, metrics, log } = this.#options;
    if (!leadership.isLeading()) return this.#standBy();
    if (this.#evaluator !== undefined) return;
    log.info('leadership acquired; this process detects');
    const evaluator = this.#makeEvaluator(() => this.#isLeading());
    this.#isStarting = true;
    try {
      await evaluator.start();
    } finally {
      this.#isStarting = false;
    }
    this.#evaluator = evaluator;
    metrics.detectorLeader.set(1);
  }

  /** False also where the process is to end while an evaluator starts: a start has nothing to lose. */
  #isLeading(): boolean {
    const { evaluateAtEnd, leadership, signal } = this.#options;
    const isEnding = signal?.aborted === true || (this.#stopped && !evaluateAtEnd);
    return !(this.#isStarting && isEnding) && leadership.isLeading();
  }

  #standBy(): void {
    const { metrics, log } = this.#options;
    metrics.detectorLeader.set(0);
    if (this.#evaluator === undefined) return;
    this.#evaluator.end();
    this.#evaluator = undefined;
    this.#failures = 0;
    log.warn('leadership lost; this process stands by');
  }
}
