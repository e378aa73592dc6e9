import { expect, it } from 'vitest';
import { PingWatch, pingLimits } from '../../../src/sink/client/ping-watch.ts';
import { VirtualClock } from '../../alert/outbox/virtual-clock.ts';

/** A server that responds at once, refuses at once, or lets its client wait for a response. */
class Server {
  readonly clock = new VirtualClock();
  readonly silences: number[] = [];
  state: 'responds' | 'refuses' | 'hangs' = 'responds';
  waitMs: number = pingLimits.responseMs;
  pings = 0;
  readonly watch = new PingWatch({
    clock: this.clock,
    onSilent: (ms) => this.silences.push(ms),
    ping: async () => {
      this.pings++;
      if (this.state === 'hangs') await this.clock.sleep(this.waitMs);
      return this.state === 'responds';
    },
  });

  /** Seconds until the watch says so, from now on. */
  async secondsUntilSilent(): Promise<number> {
    for (let second = 1; second <= 30; second++) {
      await this.clock.advance(1_000);
      if (this.watch.silentMs > 0) return second;
    }
    return Number.POSITIVE_INFINITY;
  }
}

it('finds within ten seconds that a server hangs, and says so until it responds', async () => {
  const server = new Server();
  await server.clock.advance(5_500);
  expect(server.watch.silentMs).toBe(0);
  server.state = 'hangs';
  expect(await server.secondsUntilSilent()).toBe(9);
  expect(server.silences).toEqual([8_000]);
  await server.clock.advance(20_000);
  expect(server.watch.silentMs).toBe(28_500);
  server.state = 'responds';
  await server.clock.advance(pingLimits.responseMs + pingLimits.intervalMs);
  expect(server.watch.silentMs).toBe(0);
});

it('waits for a server that restarts, one that refuses connections for less than eight seconds', async () => {
  const server = new Server();
  server.state = 'refuses';
  await server.clock.advance(7_000);
  expect(server.watch.silentMs).toBe(0);
  server.state = 'responds';
  await server.clock.advance(1_000);
  server.state = 'refuses';
  expect(await server.secondsUntilSilent()).toBe(9);
});

it('has one ping under way at a time, and none once it is stopped', async () => {
  const server = new Server();
  server.state = 'hangs';
  const before = server.pings;
  await server.clock.advance(pingLimits.responseMs);
  expect(server.pings).toBe(before + 1);
  server.watch.stop();
  await server.clock.advance(30_000);
  expect(server.pings).toBe(before + 1);
});

it('does not count a ping during which this process itself was suspended', async () => {
  const server = new Server();
  server.state = 'hangs';
  server.waitMs = 60_000;
  await server.clock.advance(180_000);
  expect(server.watch.silentMs).toBe(0);
});
