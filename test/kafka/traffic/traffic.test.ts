import { expect, it } from 'vitest';
import { Traffic } from '../../../src/kafka/traffic/traffic.ts';
import { handClock } from '../login/hand-clock.ts';

it('counts the time of throttling as it passes, and overlapping waits once', async () => {
  const clock = handClock();
  const traffic = new Traffic(clock);
  expect(traffic.throttledMs()).toBe(0);
  traffic.throttle(1_000);
  await clock.pass(400);
  expect(traffic.throttledMs()).toBe(400);
  // Another broker: 1.1 s more than the first one.
  traffic.throttle(1_700);
  traffic.throttle(100);
  await clock.pass(700);
  expect(traffic.throttledMs()).toBe(1_100);
  await clock.pass(10_000);
  expect(traffic.throttledMs()).toBe(2_100);
  traffic.throttle(300);
  await clock.pass(10_000);
  expect(traffic.throttledMs()).toBe(2_400);
});
