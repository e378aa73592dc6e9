import { writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { freePorts } from '../../src/local/local-ports.ts';
import { benchMessages } from './kit/bench-messages.ts';
import { poll } from './kit/poll.ts';
import type { Rig } from './kit/rig.ts';
import {
  plain,
  START_SECONDS,
  sessionMs,
  untilPassed,
  useShortLogins,
} from './kit/short-logins.ts';

const { withLogin, tokenFile } = useShortLogins();

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

// Concurrent: each waits for what kafkajs alone would do.
describe.concurrent('a process whose first login is refused', () => {
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
      await untilPassed(3 * sessionMs.plain);
      await rig.publish(messages.slice(half).map((value) => ({ value })));
      await rig.untilConsumed(messages.length);
      expect(child.isOver()).toBe(false);
      expect(child.err()).not.toContain('Kafka consumer failed');
      child.signal('SIGTERM');
      expect(await child.exited).toBe(0);
    });
  });
});
