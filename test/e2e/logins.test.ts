import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePorts } from '../../src/local/local-ports.ts';
import { useStack } from '../containers/stack.ts';
import { benchMessages } from './kit/bench-messages.ts';
import { KafkaCluster } from './kit/kafka-cluster.ts';
import { poll } from './kit/poll.ts';
import type { Rig } from './kit/rig.ts';
import { unsecuredToken } from './kit/unsecured-token.ts';
import { withRig } from './kit/with-rig.ts';

const stack = useStack();
/** How long brokers know a login, by its mechanism. */
const sessionMs = { plain: 3_000, oauthbearer: 8_000 };
/** A token for as long as a process takes to start. */
const START_SECONDS = 600;
const TOKEN_SECONDS = 15;
let dir: string;
let cluster: KafkaCluster;
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'tailmark-logins-'));
  cluster = await KafkaCluster.start({
    brokers: 1,
    settings: {
      'listener.name.sasl_plaintext.plain.connections.max.reauth.ms': sessionMs.plain,
      'listener.name.sasl_plaintext.oauthbearer.connections.max.reauth.ms': sessionMs.oauthbearer,
    },
  });
});
afterAll(async () => {
  await cluster.stop();
  rmSync(dir, { recursive: true, force: true });
});

/** A rig whose processes log in, and whose test does not. */
function withLogin(
  name: string,
  login: Readonly<Record<string, string>>,
  use: (rig: Rig, env: Record<string, string>) => Promise<void>,
): Promise<void> {
  return withRig({ stack: { ...stack, brokers: cluster.brokers }, name }, (rig) =>
    use(rig, { TAILMARK_KAFKA_BROKERS: cluster.saslBrokers.join(','), ...login }),
  );
}

const plain = {
  TAILMARK_KAFKA_SASL_MECHANISM: 'plain',
  TAILMARK_KAFKA_SASL_USERNAME: 'app',
  TAILMARK_KAFKA_SASL_PASSWORD: 'app-password',
};

/** A token file, replaced as Kubernetes does. */
function tokenFile(name: string) {
  const path = join(dir, name);
  const renew = (seconds: number) => {
    writeFileSync(`${path}.new`, unsecuredToken('app', seconds), { mode: 0o600 });
    renameSync(`${path}.new`, path);
  };
  const env = {
    TAILMARK_KAFKA_SASL_MECHANISM: 'oauthbearer',
    TAILMARK_KAFKA_SASL_TOKEN_FILE: path,
  };
  return { renew, path, env };
}

function untilPassed(ms: number): Promise<true> {
  const endMs = performance.now() + ms;
  const isOver = () => (performance.now() > endMs ? true : undefined);
  return poll('time has passed', isOver, { deadlineMs: ms + 10_000 });
}

/** Starts a process whose first login is refused, and waits until it says so. */
async function startRefused(rig: Rig, env: Record<string, string>, reason: string) {
  const [port = 0] = await freePorts([undefined]);
  const listen = { TAILMARK_HTTP_LISTEN: `127.0.0.1:${port}` };
  const child = rig.spawn(['run', '--roles', 'ingest,detect,serve'], { ...env, ...listen });
  const get = async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`);
    return { status: response.status, text: await response.text() };
  };
  await child.logged('the brokers do not accept the login');
  const ready = await get('/readyz');
  expect(ready.status).toBe(503);
  expect(ready.text).toMatch(/^kafka: the brokers have not accepted a login for \d+ s: /);
  expect(ready.text).toContain(reason);
  expect(await get('/healthz')).toEqual({ status: 200, text: 'ok\n' });
  // kafkajs alone would have given up by now.
  await untilPassed(8_000);
  expect(child.isOver()).toBe(false);
  return { child, get };
}

describe('a process whose first login is refused', () => {
  it.each([
    ['expired', (renew: (seconds: number) => void) => renew(-30), 'invalid_token'],
    ['empty', (_: unknown, path: string) => writeFileSync(path, ''), 'it is empty'],
  ])('for its token is %s waits, and starts once it is renewed', async (name, spoil, reason) => {
    const { renew, path, env: login } = tokenFile(name);
    spoil(renew, path);
    await withLogin(`first_${name}`, login, async (rig, env) => {
      const { child, get } = await startRefused(rig, env, reason);
      renew(START_SECONDS);
      await child.logged('the brokers accept the login');
      const { messages } = benchMessages('first_token', 100, 1);
      await rig.publish(messages.map((value) => ({ value })));
      await rig.untilConsumed(messages.length);
      await poll('it is ready', async () =>
        (await get('/readyz')).status === 200 ? true : undefined,
      );
      child.signal('SIGTERM');
      expect(await child.exited).toBe(0);
    });
  });

  it('for its password waits, and ends in order on a signal', async () => {
    const wrong = { ...plain, TAILMARK_KAFKA_SASL_PASSWORD: 'not-known-yet' };
    await withLogin('first_password', wrong, async (rig, env) => {
      const { child } = await startRefused(rig, env, 'SASL PLAIN authentication failed');
      child.signal('SIGTERM');
      expect(await child.exited).toBe(0);
      expect(child.err()).toContain('stopped while it started; nothing was read');
    });
  });

  it.each([
    [
      'a mechanism that no broker offers',
      () => ({ ...plain, TAILMARK_KAFKA_SASL_MECHANISM: 'scram-sha-256' }),
      'TAILMARK_KAFKA_AUTH',
    ],
    ['a token file that is missing', () => tokenFile('missing').env, 'TAILMARK_CONFIG_INVALID'],
    [
      'a file of two tokens',
      () => {
        const { path, env } = tokenFile('two');
        writeFileSync(path, 'one two');
        return env;
      },
      'TAILMARK_KAFKA_AUTH',
    ],
  ])('for %s ends at once as wrongly configured', async (_, login, code) => {
    await withLogin('first_wrong', login(), async (rig, own) => {
      const child = rig.spawn(['run', '--roles', 'ingest'], own);
      expect(await child.exited).toBe(78);
      expect(child.err()).toContain(`code: ${code}\n`);
    });
  });
});

describe('a login', () => {
  it('that holds for three seconds is renewed in time, again and again', async () => {
    await withLogin('short_login', plain, async (rig, env) => {
      const { messages } = benchMessages('short_login', 100, 1);
      const child = rig.spawn(['run', '--roles', 'ingest,detect'], env);
      const half = messages.length / 2;
      await rig.publish(messages.slice(0, half).map((value) => ({ value })));
      await rig.untilConsumed(half);
      await untilPassed(5 * sessionMs.plain);
      await rig.publish(messages.slice(half).map((value) => ({ value })));
      await rig.untilConsumed(messages.length);
      expect(child.isOver()).toBe(false);
      expect(child.err()).not.toContain('Kafka consumer failed');
      child.signal('SIGTERM');
      expect(await child.exited).toBe(0);
    });
  });

  it('by a token that is replaced two seconds before its end goes on', async () => {
    const { renew, env: login } = tokenFile('late');
    renew(START_SECONDS);
    await withLogin('late_token', login, async (rig, env) => {
      const { messages } = benchMessages('late_token', 100, 1);
      const child = rig.spawn(['run', '--roles', 'ingest'], env);
      await child.logged('partition assigned');
      for (const at of [0, 1, 2]) {
        renew(TOKEN_SECONDS);
        const part = messages.slice(33 * at, 33 * (at + 1));
        await rig.publish(part.map((value) => ({ value })));
        await rig.untilConsumed(33 * (at + 1));
        await untilPassed(1_000 * (TOKEN_SECONDS - 2));
      }
      expect(child.isOver()).toBe(false);
      expect(child.err()).not.toContain('Kafka consumer failed');
    });
  });

  it('by a token that is not replaced for a while makes a process not ready, and does not end it', async () => {
    const { renew, env: login } = tokenFile('away');
    renew(START_SECONDS);
    await withLogin('no_token', login, async (rig, env) => {
      const { messages } = benchMessages('no_token', 100, 1);
      const child = rig.spawn(['run', '--roles', 'ingest'], env);
      await rig.publish(messages.slice(0, 50).map((value) => ({ value })));
      await rig.untilConsumed(50);
      renew(1);
      await child.logged('the brokers have refused the login for');
      await rig.publish(messages.slice(50).map((value) => ({ value })));
      await untilPassed(15_000);
      expect(child.isOver()).toBe(false);
      renew(START_SECONDS);
      await rig.untilConsumed(100, 60_000);
      await child.logged('Kafka consumption resumed');
      expect(child.isOver()).toBe(false);
    });
  });
});
