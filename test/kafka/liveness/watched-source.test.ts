// Covers src/kafka/patches/end-fetch-loops.ts.

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Claim, ClaimLostError } from '../../../src/source/source.ts';
import { away, brokerErrors, FakeKafka, never, refuse } from '../fake-kafka.ts';
import { WatchedRun } from '../watched-run.ts';

// Numbers are those of kafkajs' issues. Time and the brokers are simulated; consumer, runner, fetchers and
// offset manager are kafkajs' own.

beforeEach(() => {
  vi.useFakeTimers({
    toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date'],
    now: 1_790_000_000_000,
  });
});
afterEach(() => {
  vi.useRealTimers();
});

/** A run that has read and committed ten records of each partition. */
async function running(kafka: FakeKafka): Promise<WatchedRun> {
  for (const partition of kafka.logs.keys()) kafka.append(partition, 10);
  const run = new WatchedRun(kafka);
  await run.begin();
  const read = [...kafka.logs.keys()].map((partition) => [partition, 10]);
  expect([...kafka.committed].sort()).toEqual(read);
  expect({ problems: run.source.problems(), end: run.end }).toEqual({
    problems: [],
    end: undefined,
  });
  return run;
}

/** A partition of the second broker that the group does not know yet. */
function addPartition(kafka: FakeKafka): void {
  kafka.logs.push([]);
  kafka.leaders.push(2);
}

/** Expects the problem within 30 s and the end within 60 s, less the 6 s that ending needs. */
function expectEnd(run: WatchedRun, problem: RegExp): void {
  expect(run.unready?.problem).toMatch(problem);
  expect(run.unready?.afterMs).toBeLessThanOrEqual(30_000);
  expect(run.end?.error).toMatchObject({ code: 'TAILMARK_STALLED', exitCode: 69 });
  expect(run.end?.error.message).toMatch(problem);
  expect(run.end?.afterMs).toBeLessThanOrEqual(54_000);
}

describe('ends within a minute', () => {
  it('a handler that neither returns nor heartbeats, and is removed from the group (#1527, #447)', async () => {
    const kafka = new FakeKafka();
    const run = await running(kafka);
    run.meddle = () => never;
    kafka.append(0, 5);
    await run.pass(60);
    expectEnd(run, /no commit for t\/0 for \d+ s: the committed offset is 10/);
  });

  it('the same with so much to read that kafkajs waits, too', async () => {
    const kafka = new FakeKafka();
    const run = await running(kafka);
    run.meddle = () => never;
    kafka.append(0, 40);
    await run.pass(60);
    expectEnd(run, /t\/0 has been at offset 30 .*lag of 20: .*batch has not finished/);
  });

  it('a blocked handler whose member is kept alive by a broker without its partitions (#1616)', async () => {
    const kafka = new FakeKafka();
    kafka.nodes = [1, 2];
    const run = await running(kafka);
    run.meddle = () => never;
    kafka.append(0, 40);
    await run.pass(30);
    const { heartbeats } = kafka;
    await run.pass(30);
    expect(kafka.heartbeats - heartbeats).toBeGreaterThan(5);
    expect(kafka.joins).toBe(1);
    expectEnd(run, /current batch has not finished/);
  });

  it('a handler that blocks whenever it has a partition; others continue (#1566, #1720)', async () => {
    const kafka = new FakeKafka(2);
    kafka.nodes = [1, 2];
    kafka.leaders[1] = 2;
    const run = await running(kafka);
    run.meddle = (claim) => (claim.partition === 0 ? never : undefined);
    kafka.append(0, 40);
    await run.pass(2);
    kafka.onHeartbeat = () => {
      kafka.onHeartbeat = () => undefined;
      refuse(brokerErrors.rebalanceInProgress);
    };
    await run.pass(10);
    // kafkajs waits for its delivered batches before it joins; the queue does not delay it.
    expect(kafka.joins).toBe(2);
    kafka.append(1, 5);
    await run.pass(2);
    expect(kafka.committed.get(1)).toBe(15);
    await run.pass(50);
    expectEnd(run, /t\/0 has been at offset \d+ .*current batch has not finished/);
  });

  it('a fetch that never returns (#1140, #659)', async () => {
    const kafka = new FakeKafka();
    const run = await running(kafka);
    kafka.onFetch = () => never;
    kafka.append(0, 5);
    await run.pass(60);
    expectEnd(run, /the consumer sends no fetch requests/);
  });

  it('fetches that return nothing although more and more is written (#624)', async () => {
    const kafka = new FakeKafka(2);
    const run = await running(kafka);
    // The partition has moved to a broker that the consumer does not know.
    kafka.leaders[0] = 9;
    await run.pass(60, () => {
      kafka.append(0, 1);
      kafka.append(1, 1);
    });
    expectEnd(run, /t\/0 has been at offset 10 .*the consumer fetches but receives no records/);
  });

  it('a join that never gets a response, at the start and later (#1074)', async () => {
    const kafka = new FakeKafka();
    kafka.onJoin = () => never;
    const first = new WatchedRun(kafka);
    await first.begin();
    await first.pass(60);
    expectEnd(first, /not a member of the group/);

    const later = new FakeKafka();
    const run = await running(later);
    later.onJoin = () => never;
    later.onHeartbeat = () => refuse(brokerErrors.rebalanceInProgress);
    await run.pass(60);
    expectEnd(run, /not a member of the group/);
    // kafkajs never stops then either; ending does not wait for it.
    let isStopped = false;
    void run.source.stop().then(() => {
      isStopped = true;
    });
    await vi.advanceTimersByTimeAsync(60_000);
    expect(isStopped).toBe(false);
  });

  it('a rebalance loop: each generation ends before anything of it is stored', async () => {
    const kafka = new FakeKafka();
    const run = await running(kafka);
    kafka.append(0, 50);
    kafka.onHeartbeat = () => refuse(brokerErrors.rebalanceInProgress);
    kafka.onJoin = () => new Promise((resolve) => setTimeout(resolve, 500));
    run.meddle = async (_, __, keepAlive) => {
      for (;;) {
        await new Promise((resolve) => setTimeout(resolve, 500));
        await keepAlive();
      }
    };
    await run.pass(60);
    expect(kafka.joins).toBeGreaterThan(10);
    expectEnd(run, /t\/0 has been at offset 10 .* has rejoined its group \d+ times meanwhile/);
  });

  it('a consumer that restarts by itself again and again, with all checks green', async () => {
    const kafka = new FakeKafka();
    const run = await running(kafka);
    kafka.append(0, 5);
    kafka.onFetch = () => refuse(brokerErrors.timedOut);
    await run.pass(60);
    const crashes = await run.metrics.consumerRestarts.get();
    expect(crashes.values[0]?.value).toBeGreaterThan(1);
    expectEnd(run, /t\/0 has been at offset 10 .*lag of 5:/);
  });

  it('the same where it cannot join the group', async () => {
    const kafka = new FakeKafka();
    const run = await running(kafka);
    kafka.onJoin = () => refuse(brokerErrors.coordinatorNotAvailable);
    kafka.onHeartbeat = () => refuse(brokerErrors.rebalanceInProgress);
    await run.pass(60);
    expectEnd(run, /not a member of the group for \d+ s/);
  });

  it('a partition that stays paused, as looking it up never succeeds', async () => {
    const kafka = new FakeKafka();
    const run = await running(kafka);
    kafka.append(0, 5);
    kafka.onAdmin = () => never;
    let isAsked = false;
    kafka.onHeartbeat = () => {
      if (isAsked) return;
      isAsked = true;
      refuse(brokerErrors.rebalanceInProgress);
    };
    await run.pass(60);
    expect(kafka.joins).toBe(2);
    expectEnd(run, /t\/0 has been at offset 10 .*lag of 5: the partition is paused/);
  });

  it('commits that never get a response', async () => {
    const kafka = new FakeKafka();
    const run = await running(kafka);
    kafka.onCommit = () => never;
    // As in the ingester, storing runs concurrently with reading.
    run.onBatch = async (claim, batch) => {
      void claim.commit(batch.nextOffset, '');
    };
    await run.pass(60, () => kafka.append(0, 1));
    expectEnd(run, /no commit for t\/0 for \d+ s: the committed offset is 10/);
  });
});

describe('ends at once', () => {
  it('on an error code that kafkajs does not know: it crashes and stays crashed', async () => {
    const kafka = new FakeKafka();
    const run = await running(kafka);
    kafka.onHeartbeat = () => refuse(brokerErrors.unknown);
    await run.pass(60);
    expect(run.end).toMatchObject({ error: { code: 'TAILMARK_STALLED', exitCode: 69 } });
    expect(run.end?.error.message).toMatch(/Unknown error code 129/);
    expect(run.end?.afterMs).toBeLessThanOrEqual(3_000);
  });

  it('when the offset manager fails on a topic that a rebalance has taken away (#558)', async () => {
    const kafka = new FakeKafka(2);
    kafka.nodes = [1, 2];
    kafka.leaders[1] = 2;
    const run = await running(kafka);
    kafka.append(0, 3, true);
    // One fetcher waits for a response; the other finds a new partition and joins the group again.
    let isJoined = false;
    kafka.onFetch = async (nodeId) => {
      if (nodeId === 1) while (!isJoined) await new Promise((next) => setTimeout(next, 100));
      if (nodeId !== 2 || isJoined || kafka.logs.length > 2) return;
      kafka.assigned = [];
      kafka.onJoin = () => {
        setTimeout(() => {
          isJoined = true;
        }, 1_000);
      };
      addPartition(kafka);
    };
    await run.pass(30);
    expect(run.end).toMatchObject({ error: { code: 'TAILMARK_STALLED', exitCode: 69 } });
    expect(run.end?.error.message).toMatch(/Cannot (set|read) propert/);
    expect(run.end?.afterMs).toBeLessThanOrEqual(5_000);
  });
});

describe('recovers by itself', () => {
  it('from a rebalance in the middle of a long batch: it ends, and is read again (#1527)', async () => {
    const kafka = new FakeKafka();
    const run = await running(kafka);
    let isLong = true;
    run.meddle = async (_, __, keepAlive) => {
      for (let n = 0; n < 50 && isLong; n++) {
        await new Promise((resolve) => setTimeout(resolve, 500));
        await keepAlive();
      }
    };
    kafka.append(0, 5);
    await run.pass(5);
    kafka.onHeartbeat = () => {
      kafka.onHeartbeat = () => undefined;
      isLong = false;
      refuse(brokerErrors.rebalanceInProgress);
    };
    await run.pass(3);
    expect({ joins: kafka.joins, committed: kafka.committed.get(0), end: run.end }).toEqual({
      joins: 2,
      committed: 15,
      end: undefined,
    });
    expect(run.handled.slice(10)).toEqual(['0@10', '0@11', '0@12', '0@13', '0@14']);
  });

  it('from a handler of a past generation: its commit is refused here (#1046)', async () => {
    const kafka = new FakeKafka(2);
    kafka.nodes = [1, 2];
    kafka.leaders[1] = 2;
    const run = await running(kafka);
    let resume: () => void = () => undefined;
    let outcome: unknown;
    run.meddle = async (claim: Claim, batch) => {
      if (claim.partition !== 0) return;
      await new Promise<void>((resolve) => {
        resume = resolve;
      });
      outcome = await claim.commit(batch.nextOffset, '').catch((error: unknown) => error);
    };
    kafka.append(0, 5);
    await run.pass(2);
    // The other fetcher finds a new partition: kafkajs joins while the handler runs.
    kafka.assigned = [1];
    addPartition(kafka);
    await run.pass(2);
    expect(kafka.joins).toBe(2);
    const before = [...kafka.commitsAsked];
    resume();
    await run.pass(2);
    expect(outcome).toBeInstanceOf(ClaimLostError);
    expect(kafka.commitsAsked).toEqual(before);
    expect(kafka.committed.get(0)).toBe(10);
    kafka.append(1, 5);
    await run.pass(3);
    expect(kafka.committed.get(1)).toBe(15);
  });

  it('from brokers that are away for ten minutes, which it reports', async () => {
    const kafka = new FakeKafka();
    const run = await running(kafka);
    kafka.append(0, 5);
    kafka.onFetch = away;
    kafka.onJoin = away;
    kafka.onHeartbeat = away;
    kafka.onProbe = away;
    kafka.onAdmin = away;
    await run.pass(600);
    expect(run.end).toBeUndefined();
    expect(run.unready?.problem).toMatch(/kafka: no response for 10 s \(connect ECONNREFUSED\)/);
    expect(run.unready?.afterMs).toBeLessThanOrEqual(30_000);
    Object.assign(kafka, new FakeKafkaFaults());
    await run.pass(2);
    expect(run.source.problems(), 'it is ready within 2 s').toEqual([]);
    await run.pass(30);
    expect({ end: run.end, problems: run.source.problems() }).toEqual({
      end: undefined,
      problems: [],
    });
    expect(kafka.committed.get(0)).toBe(15);
  });
});

describe('ignores', () => {
  it('a topic without traffic, for an hour', async () => {
    const run = await running(new FakeKafka());
    await run.pass(3_600);
    expect({ unready: run.unready, end: run.end }).toEqual({ unready: undefined, end: undefined });
  });

  it('a handler that waits for ClickHouse, for ten minutes', async () => {
    const kafka = new FakeKafka();
    const run = await running(kafka);
    let isAway = true;
    run.meddle = async (_, __, keepAlive) => {
      while (isAway) {
        await new Promise((resolve) => setTimeout(resolve, 500));
        await keepAlive();
      }
    };
    kafka.append(0, 5);
    await run.pass(600, () => {
      run.storeWaitMs += 1_000;
    });
    expect({ unready: run.unready, end: run.end, joins: kafka.joins }).toEqual({
      unready: undefined,
      end: undefined,
      joins: 1,
    });
    isAway = false;
    run.storeWaitMs = 0;
    await run.pass(3);
    expect(kafka.committed.get(0)).toBe(15);
  });

  it('a join of 30 s, as another member is slow', async () => {
    const kafka = new FakeKafka();
    const run = await running(kafka);
    kafka.append(0, 5);
    kafka.onJoin = () => new Promise((resolve) => setTimeout(resolve, 30_000));
    kafka.onHeartbeat = () => {
      kafka.onHeartbeat = () => undefined;
      refuse(brokerErrors.rebalanceInProgress);
    };
    await run.pass(40);
    expect({ end: run.end, problems: run.source.problems() }).toEqual({
      end: undefined,
      problems: [],
    });
    expect(kafka.committed.get(0)).toBe(15);
  });

  it('records that are filtered before any handler sees them', async () => {
    const kafka = new FakeKafka();
    const run = await running(kafka);
    kafka.append(0, 400, true);
    await run.pass(300);
    expect({ unready: run.unready, end: run.end }).toEqual({ unready: undefined, end: undefined });
    expect(run.handled).toHaveLength(10);
  });
});

/** Actions that change nothing. */
class FakeKafkaFaults {
  onFetch = () => undefined;
  onJoin = () => undefined;
  onHeartbeat = () => undefined;
  onProbe = () => undefined;
  onAdmin = () => undefined;
}
