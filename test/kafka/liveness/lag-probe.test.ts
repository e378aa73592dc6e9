import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { FakeKafka, never, topic } from '../fake-kafka.ts';
import { WatchedRun } from '../watched-run.ts';

beforeEach(() => {
  vi.useFakeTimers({
    toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date'],
    now: 1_790_000_000_000,
  });
});
afterEach(() => {
  vi.useRealTimers();
});

const lagsOf = async ({ metrics }: WatchedRun) =>
  (await metrics.lagMessages.get()).values.map(({ labels, value }) => [
    labels.topic,
    labels.partition,
    value,
  ]);

it('the lag of a partition whose first records wait is all of them, though they were fetched', async () => {
  const kafka = new FakeKafka(2);
  kafka.append(0, 10);
  kafka.append(1, 4);
  const run = new WatchedRun(kafka);
  // As for a schema that the registry does not give.
  run.meddle = ({ partition }) => (partition === 0 ? never : undefined);
  await run.begin();
  await run.pass(12);
  expect([...kafka.committed]).toEqual([[1, 4]]);
  expect(await lagsOf(run)).toEqual([
    [topic, 0, 10],
    [topic, 1, 0],
  ]);
  kafka.append(0, 5);
  await run.pass(6);
  expect(await lagsOf(run)).toContainEqual([topic, 0, 15]);
});

it('the lag of records that no handler sees, such as transaction markers, is none', async () => {
  const kafka = new FakeKafka();
  kafka.append(0, 3, true);
  const run = new WatchedRun(kafka);
  await run.begin();
  await run.pass(12);
  expect(await lagsOf(run)).toEqual([[topic, 0, 0]]);
});
