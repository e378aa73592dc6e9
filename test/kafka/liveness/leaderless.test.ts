import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { FakeKafka } from '../fake-kafka.ts';
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

const countOf = async ({ metrics }: WatchedRun) =>
  (await metrics.partitionsLeaderless.get()).values;
const note =
  'kafka: t/1 has no leader: all replicas are on brokers that are down. What is there waits, and the other ' +
  'partitions are read';

it.each(['while it is read', 'before a process starts'])(
  'a partition that loses its leader %s waits, and the others are read; then it is read on',
  async (when) => {
    const kafka = new FakeKafka(3);
    for (const partition of [0, 1, 2]) kafka.append(partition, 10);
    if (when !== 'while it is read') kafka.leaders[1] = -1;
    const run = new WatchedRun(kafka);
    await run.begin();
    kafka.leaders[1] = -1;
    kafka.append(1, 5);
    await run.pass(300, () => kafka.append(0, 1));
    expect([run.unready, run.end]).toEqual([undefined, undefined]);
    expect(kafka.committed.get(0)).toBeGreaterThan(300);
    expect(kafka.committed.get(1)).toBe(when === 'while it is read' ? 10 : undefined);
    expect(run.source.notes()).toEqual([note]);
    expect(await countOf(run)).toEqual([{ labels: { role: 'ingest' }, value: 1 }]);
    kafka.leaders[1] = 1;
    await run.pass(12);
    expect(kafka.committed.get(1)).toBe(15);
    expect(run.handled.filter((record) => record.startsWith('1@'))).toHaveLength(15);
    expect(run.source.notes()).toEqual([]);
    expect(await countOf(run)).toEqual([{ labels: { role: 'ingest' }, value: 0 }]);
  },
);
