import { type Clock, systemClock } from '../../../base/clock.ts';
import type { Logins } from '../../login/logins.ts';
import { type Patchable, patchOnce } from '../patch-once.ts';

/** A connection logs in again after this share of the time for which its login holds, as Java's client does. */
const LIFETIME_SHARE = 0.85;

/** The used part of kafkajs' `Connection` (src/network/connection.js). */
interface Connection {
  /** High-resolution time of the last login; null before one. */
  readonly authenticatedAt: unknown;
  /** A Long: how long the login holds, in ms; 0 for ever. */
  readonly sessionLifetime: { toString(): string };
  readonly sasl: { readonly logins?: Logins } | null;
  isAuthenticated(): boolean;
  disconnect(): Promise<unknown>;
}

/** The used part of kafkajs' `SASLAuthenticator` (src/broker/saslAuthenticator/index.js). */
interface Authenticator {
  readonly connection: Connection;
  authenticate(): Promise<void>;
}

/** Errors of a connection that broke, which say nothing of the login. */
const broken: ReadonlySet<string> = new Set([
  'KafkaJSConnectionError',
  'KafkaJSConnectionClosedError',
  'KafkaJSRequestTimeoutError',
]);

/**
 * Makes connections log in again in time. kafkajs 2.2.4 does so 10 s before a login ends. A login of less than
 * 10 s is renewed before each request, which brokers refuse. A token that ends in less than 10 s is sent again
 * and again until it ends. And it takes a refusal for good, also that of a token which is about to be replaced.
 */
export function logInInTime(
  connection: Patchable<Connection>,
  authenticator: Patchable<Authenticator>,
  clock: Clock = systemClock,
): void {
  /** Time of a connection's last login. */
  const loggedInMs = new WeakMap<Connection, number>();
  patchOnce(connection, 'logInInTime', ['isAuthenticated'], () => ({
    isAuthenticated(this: Connection) {
      if (this.authenticatedAt === null) return false;
      const lifetimeMs = Number(this.sessionLifetime.toString());
      const ageMs = clock.elapsedMs() - (loggedInMs.get(this) ?? 0);
      return lifetimeMs === 0 || ageMs < LIFETIME_SHARE * lifetimeMs;
    },
  }));
  patchOnce(authenticator, 'logInInTime', ['authenticate'], ({ authenticate }) => ({
    async authenticate(this: Authenticator) {
      const { connection } = this;
      const logins = connection.sasl?.logins;
      // A new connection may log in at once.
      const isAgain = connection.authenticatedAt !== null;
      await logins?.turn(isAgain ? loggedInMs.get(connection) : undefined);
      try {
        await authenticate.call(this);
      } catch (error) {
        if (error instanceof Error && broken.has(error.name)) throw error;
        // The broker closes the connection, and another one must be tried.
        void connection.disconnect().catch(() => undefined);
        logins?.refused(error);
        throw error;
      }
      loggedInMs.set(connection, clock.elapsedMs());
      logins?.accepted();
    },
  }));
}
