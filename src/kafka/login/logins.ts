import { type Clock, systemClock } from '../../base/clock.ts';
import { Failure, messageOf } from '../../base/failure.ts';
import { OperatorError } from '../../base/operator-error.ts';
import { knownSecrets } from '../../base/telemetry/known-secrets.ts';
import type { Logger } from '../../base/telemetry/log.ts';
import { minuteMs } from '../../base/time.ts';
import type { Config } from '../../config/schema.ts';
import { isAway, isRefusedLate, makeRetriable } from '../errors/away.ts';
import { mayBeAcceptedSoon } from './may-be-accepted-soon.ts';

/** Time between two logins of a connection, and after a refusal. Brokers close what logs in more often. */
const BETWEEN_LOGINS_MS = 1_000;
/** Refusals for less are not a problem: a token may be rotated at the last moment. */
const TOLERATED_MS = 5_000;
/** Time for which a login may be refused before the process ends. */
const PATIENCE_MS = 5 * minuteMs;

/** The wait of a process for its first login. */
export interface FirstLogin {
  readonly log: Pick<Logger, 'info' | 'warn'>;
  /** Ends the wait. */
  readonly signal?: AbortSignal | undefined;
}

const refusedFirst =
  'the brokers do not accept the login; the process is not ready, and tries again for 5 min';

/**
 * Logins of all connections with one configuration. A login holds for a time (`connections.max.reauth.ms`, or
 * the rest of a token), so each connection logs in again and again. A refusal after an accepted login means
 * that a token was not renewed in time. That is no wrong configuration, so it is tried again. A process that a
 * supervisor keeps running also waits for its first login (`waitForFirst`); a command says at once what is wrong.
 */
export class Logins {
  readonly #clock: Clock;
  #isAccepted = false;
  /** The first login is waited for until this rejects; undefined where nobody waits for it. */
  #wait: (FirstLogin & { readonly end: Promise<never> }) | undefined;
  #refused: { readonly sinceMs: number; readonly reason: string } | undefined;
  /** While logins are refused: when the next one may be tried. */
  #nextMs = Number.NEGATIVE_INFINITY;
  #accept: () => void = () => undefined;
  #untilAccepted: Promise<void> = Promise.resolve();
  readonly #lost = new Failure();
  #isLost = false;
  /** Rejects when a login that was accepted before, or is waited for, has been refused for five minutes. */
  readonly lost: Promise<never> = this.#lost.promise;

  constructor(clock: Clock = systemClock) {
    this.#clock = clock;
  }

  /** True once brokers have accepted a login of this configuration. */
  get wereAccepted(): boolean {
    return this.#isAccepted;
  }

  /** Lets the first login be tried again too, where what refuses it may be over soon. */
  waitForFirst(first: FirstLogin): void {
    const { promise: end, reject } = new Failure();
    const wait = { ...first, end };
    this.#wait = wait;
    const stopped = () => {
      reject(new Error('stopped while it waited for its login'));
      // Clients that connect from now on do not wait.
      if (this.#wait === wait) this.#wait = undefined;
    };
    first.signal?.addEventListener('abort', stopped, { once: true });
  }

  /** Connects a client; where the first login is waited for, again for as long as it is refused. */
  async connect(client: { connect(): Promise<void> }): Promise<void> {
    for (;;) {
      try {
        // A refused login was tried at its turn, so nothing else paces this.
        const connected = client.connect();
        const { end = connected } = this.#wait ?? {};
        await Promise.race([connected, end, this.lost]);
        return;
      } catch (error) {
        const isOver = this.#wait === undefined || this.#wait.signal?.aborted === true;
        if (isOver || this.#isLost) throw error;
        if (isRefusedLate(error)) continue;
        // Of several brokers one may stop while the others refuse.
        if (!this.#isStillRefused || !isAway(error)) throw error;
        await Promise.race([this.#clock.sleep(BETWEEN_LOGINS_MS), this.#wait?.end]);
      }
    }
  }

  /** True while logins are refused, for less time than a login is waited for. */
  get #isStillRefused(): boolean {
    if (this.#refused === undefined) return false;
    return this.#clock.elapsedMs() - this.#refused.sinceMs < PATIENCE_MS;
  }

  /**
   * Resolves when a connection may log in. While logins are refused, all connections take turns.
   *
   * @param lastMs monotonic time of its last login.
   */
  async turn(lastMs = Number.NEGATIVE_INFINITY): Promise<void> {
    const clock = this.#clock;
    const ownMs = lastMs + BETWEEN_LOGINS_MS - clock.elapsedMs();
    if (ownMs > 0) await clock.sleep(ownMs);
    if (this.#refused === undefined) return;
    const nowMs = clock.elapsedMs();
    const turnMs = Math.max(nowMs, this.#nextMs);
    this.#nextMs = turnMs + BETWEEN_LOGINS_MS;
    if (turnMs > nowMs) await Promise.race([clock.sleep(turnMs - nowMs), this.#untilAccepted]);
  }

  accepted(): void {
    const isAwaited = !this.#isAccepted && this.#refused !== undefined;
    if (isAwaited) this.#wait?.log.info('the brokers accept the login; the process starts');
    this.#isAccepted = true;
    this.#refused = undefined;
    this.#accept();
  }

  /** Records a refusal. kafkajs tries again where a login was accepted before, or is waited for. */
  refused(error: unknown): void {
    const isWaitedFor = this.#wait !== undefined && mayBeAcceptedSoon(error);
    if (!this.#isAccepted && !isWaitedFor) return;
    const nowMs = this.#clock.elapsedMs();
    const reason = knownSecrets.hide(messageOf(error));
    if (this.#refused === undefined) {
      if (!this.#isAccepted) this.#wait?.log.warn({ err: reason }, refusedFirst);
      this.#nextMs = nowMs + BETWEEN_LOGINS_MS;
      this.#untilAccepted = new Promise((resolve) => {
        this.#accept = resolve;
      });
    }
    this.#refused = { sinceMs: this.#refused?.sinceMs ?? nowMs, reason };
    makeRetriable(error);
    const refusedMs = nowMs - this.#refused.sinceMs;
    if (refusedMs < PATIENCE_MS) return;
    this.#isLost = true;
    this.#lost.reject(this.#loginLost(refusedMs, error));
  }

  problems(): string[] {
    if (this.#refused === undefined) return [];
    const refusedMs = this.#clock.elapsedMs() - this.#refused.sinceMs;
    const { reason } = this.#refused;
    const seconds = Math.floor(refusedMs / 1000);
    if (!this.#isAccepted) {
      return [`kafka: the brokers have not accepted a login for ${seconds} s: ${reason}`];
    }
    if (refusedMs < TOLERATED_MS) return [];
    return [
      `kafka: the brokers have refused the login for ${seconds} s and accepted it before: ${reason}`,
    ];
  }

  #loginLost(refusedMs: number, cause: unknown): OperatorError {
    const minutes = Math.floor(refusedMs / minuteMs);
    const before = this.#isAccepted ? 'accepted it before' : 'have accepted none yet';
    return new OperatorError(
      'TAILMARK_KAFKA_LOGIN_LOST',
      `Cannot continue: the brokers must accept kafka.sasl; they have refused it for ${minutes} min ` +
        `and ${before}: "${this.#refused?.reason}"`,
      { hint: this.#isAccepted ? lostHint : firstHint, cause },
    );
  }
}

export const lostHint =
  'Renew the token in kafka.sasl.token_file, or look at its issuer; a password may have been changed. ' +
  'Nothing is lost or counted twice: have a supervisor restart the process.';

const firstHint =
  'Check kafka.sasl: username and password, or the token in token_file (its expiry, audience and issuer), and ' +
  'whether the brokers know the user by now. Nothing was read: have a supervisor restart the process.';

type Sasl = NonNullable<Config['kafka']['sasl']>;
const known = new WeakMap<Sasl, Logins>();
const withoutLogin = new Logins();

/** Logins by a configuration; it has none where the brokers want no login. */
export function loginsOf({ sasl }: Pick<Config['kafka'], 'sasl'>): Logins {
  if (sasl === undefined) return withoutLogin;
  let logins = known.get(sasl);
  if (logins === undefined) {
    logins = new Logins();
    known.set(sasl, logins);
  }
  return logins;
}
