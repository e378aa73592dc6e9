import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { FakeKafka } from './fake-kafka.ts';
import { WatchedRun } from './watched-run.ts';

beforeEach(() => {
  vi.useFakeTimers({
    toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date'],
    now: 1_790_000_000_000,
  });
});
afterEach(() => {
  vi.useRealTimers();
});

it('records before the requested offset are dropped from a response', async () => {
  const kafka = new FakeKafka();
  kafka.overlap = 4;
  const run = new WatchedRun(kafka);
  await run.begin();
  for (const count of [10, 3, 25]) {
    kafka.append(0, count);
    await run.pass(2);
  }
  expect(run.handled).toEqual(Array.from({ length: 38 }, (_, offset) => `0@${offset}`));
});
