import { describe, expect, it } from 'vitest';
import { Logins } from '../../../../src/kafka/login/logins.ts';
import { logInInTime } from '../../../../src/kafka/patches/connection/log-in-in-time.ts';
import { handClock } from '../../login/hand-clock.ts';

/** A broker's side of logins, and kafkajs' connection as far as it is patched. */
function world(lifetimeMs: () => number) {
  const clock = handClock();
  const logins = new Logins(clock);
  const loginsAtMs: number[] = [];
  class Connection {
    authenticatedAt: unknown = null;
    sessionLifetime = '0';
    readonly sasl = { logins };
    disconnects = 0;
    isAuthenticated(): boolean {
      return this.authenticatedAt !== null;
    }
    async disconnect() {
      this.disconnects++;
      this.authenticatedAt = null;
    }
    #login: Promise<void> | undefined;
    /** kafkajs' own, before each request: those that wait share a login. */
    async request() {
      if (this.isAuthenticated()) return;
      this.#login ??= this.#logIn().finally(() => {
        this.#login = undefined;
      });
      await this.#login;
    }
    async #logIn() {
      await new Authenticator(this).authenticate();
      this.authenticatedAt = clock.elapsedMs();
      this.sessionLifetime = String(lifetimeMs());
    }
  }
  let refused: Error | undefined;
  class Authenticator {
    readonly connection: Connection;
    constructor(connection: Connection) {
      this.connection = connection;
    }
    async authenticate() {
      loginsAtMs.push(clock.elapsedMs());
      if (refused !== undefined) throw refused;
    }
  }
  logInInTime(Connection, Authenticator, clock);
  const connection = new Connection();
  return {
    clock,
    logins,
    connection,
    loginsAtMs,
    refuse: (error: Error | undefined) => {
      refused = error;
    },
    /** Sends a request every 50 ms for so long. */
    sendFor: async (ms: number) => {
      for (const endMs = clock.elapsedMs() + ms; clock.elapsedMs() < endMs; ) {
        const sent = connection.request();
        sent.catch(() => undefined);
        await clock.pass(50);
      }
    },
  };
}

describe('a connection', () => {
  it.each([
    [9_000, [0, 7_650, 15_300, 22_950]],
    [2_000, [0, 1_700, 3_400, 5_100]],
    // Brokers refuse more than one a second.
    [500, [0, 1_000, 2_000, 3_000]],
    [3_600_000, [0]],
    [0, [0]],
  ])('whose login holds for %s ms logs in at 85 % of it', async (lifetimeMs, expected) => {
    const { sendFor, loginsAtMs } = world(() => lifetimeMs);
    await sendFor(26_000);
    expect(loginsAtMs.slice(0, expected.length)).toEqual(expected);
    if (lifetimeMs === 0 || lifetimeMs > 26_000) expect(loginsAtMs).toEqual(expected);
  });

  it('with a token that ends logs in three times on its last seconds, and takes the next one', async () => {
    const tokenEndMs = 60_000;
    let ends = tokenEndMs;
    const run = world(() => ends - run.clock.elapsedMs());
    await run.sendFor(58_000);
    // Rotated two seconds before its end.
    ends = 2 * tokenEndMs;
    await run.sendFor(3_000);
    expect(run.loginsAtMs).toEqual([0, 51_000, 58_650]);
    expect(run.logins.problems()).toEqual([]);
  });

  it('is closed when its login is refused, and another try comes after a second', async () => {
    const run = world(() => 9_000);
    await run.sendFor(1_000);
    run.refuse(Object.assign(new Error('invalid_token'), { retriable: false }));
    await run.sendFor(9_000);
    expect(run.connection.disconnects).toBeGreaterThan(0);
    expect(run.loginsAtMs.slice(0, 3)).toEqual([0, 7_650, 8_650]);
    run.refuse(undefined);
    await run.sendFor(3_000);
    expect(run.connection.isAuthenticated()).toBe(true);
  });

  it('that breaks while it logs in has not been refused', async () => {
    const run = world(() => 9_000);
    await run.sendFor(1_000);
    run.refuse(Object.assign(new Error('closed'), { name: 'KafkaJSConnectionError' }));
    await run.sendFor(20_000);
    expect(run.logins.problems()).toEqual([]);
  });
});
