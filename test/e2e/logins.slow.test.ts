import { describe, expect, it } from 'vitest';
import { benchMessages } from './kit/bench-messages.ts';
import { START_SECONDS, untilPassed, useShortLogins } from './kit/short-logins.ts';

const TOKEN_SECONDS = 15;
const { withLogin, tokenFile } = useShortLogins();

// Concurrent: tokens run out in real time.
describe.concurrent('a login', () => {
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
      await rig.untilConsumed(100);
      await child.logged('Kafka consumption resumed');
      expect(child.isOver()).toBe(false);
    });
  });
});
