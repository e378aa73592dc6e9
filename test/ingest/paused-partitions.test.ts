import { describe, expect, it } from 'vitest';
import { createLog } from '../../src/base/telemetry/log.ts';
import { createMetrics } from '../../src/base/telemetry/metrics.ts';
import { doubtOf, PausedPartitions } from '../../src/ingest/paused-partitions.ts';
import type { Claim } from '../../src/source/source.ts';
import { FakeBench, recordAt } from './fake-bench.ts';
import { FakeBroker } from './fake-broker.ts';
import { logNowMs } from './fake-log.ts';
import { testConfig } from './test-config.ts';

const range = { startOffset: 5, endOffset: 9 };
const letters = (reason: 'future' | 'late' | 'undecodable_batch' | 'invalid_json', count: number) =>
  Array.from({ length: count }, () => ({ reason }));

describe('a chunk', () => {
  it('is doubtful where more than the share of its events is rejected for one reason', () => {
    const chunk = { consumed: 100, ...range };
    expect(doubtOf(chunk, letters('future', 50), 0.5)).toBeUndefined();
    expect(doubtOf(chunk, letters('future', 51), 0.5)).toEqual({
      reason: 'future',
      rejected: 51,
      consumed: 100,
      ...range,
    });
    expect(doubtOf(chunk, letters('late', 51), 0.5)?.reason).toBe('late');
    expect(doubtOf(chunk, letters('undecodable_batch', 51), 0.5)?.reason).toBe('undecodable_batch');
    const mixed = [...letters('late', 50), ...letters('future', 50)];
    expect(doubtOf(chunk, mixed, 0.5)).toBeUndefined();
  });

  it('is not doubtful for what lies with the events, for few of them, or where all may be rejected', () => {
    expect(doubtOf({ consumed: 100, ...range }, letters('invalid_json', 100), 0.5)).toBeUndefined();
    expect(doubtOf({ consumed: 19, ...range }, letters('late', 19), 0.5)).toBeUndefined();
    expect(doubtOf({ consumed: 20, ...range }, letters('late', 20), 0.5)).toBeDefined();
    expect(doubtOf({ consumed: 100, ...range }, letters('late', 100), 1)).toBeUndefined();
  });
});

describe('a paused partition', () => {
  const claimOf = (partition: number): Claim => ({
    topic: 't',
    partition,
    isLost: false,
    commit: async () => undefined,
  });
  const doubt = { reason: 'late', rejected: 30, consumed: 40, ...range } as const;

  it('is a problem and a metric until a chunk of it is stored, over its next claims', async () => {
    const metrics = createMetrics();
    const paused = new PausedPartitions(metrics, createLog({ level: 'silent' }));
    const gauge = async () =>
      (await metrics.pausedPartitions.get()).values.map(({ labels, value }) => [
        labels.reason,
        value,
      ]);
    const first = claimOf(3);
    paused.pause(first, doubt);
    const problem =
      'ingest: t/3 is paused at offset 5: 30 of 40 events would be rejected as late: ' +
      'the events are older than windows.allowed_lateness (ingest.pause_above_rejected: 1 rejects them)';
    expect(paused.problems()).toEqual([problem]);
    expect(await gauge()).toEqual([
      ['future', 0],
      ['late', 1],
      ['undecodable_batch', 0],
    ]);
    paused.tryAgain(first);
    paused.lost(first);
    expect(paused.problems()).toEqual([problem]);
    paused.goesOn(claimOf(3));
    expect(paused.problems()).toEqual([]);
    expect((await gauge()).map(([, value]) => value)).toEqual([0, 0, 0]);
  });

  it('is no problem of a process that has lost it to another', () => {
    const paused = new PausedPartitions(createMetrics(), createLog({ level: 'silent' }));
    const [first, second] = [claimOf(3), claimOf(3)];
    paused.pause(first, doubt);
    paused.lost(claimOf(4));
    expect(paused.problems()).toHaveLength(1);
    paused.tryAgain(first);
    paused.lost(first);
    paused.lost(second);
    expect(paused.problems()).toEqual([]);
    paused.pause(second, doubt);
    paused.lost(second);
    expect(paused.problems()).toEqual([]);
  });

  it('stores and commits nothing, takes no further records, and is read again after a minute', async () => {
    const aheadMs = logNowMs + 600_000;
    const records = Array.from({ length: 60 }, (_, n) => recordAt(n, aheadMs + n));
    const bench = new FakeBench(new FakeBroker(records, 60), testConfig({ flush_max_events: 30 }));
    const calls: string[] = [];
    bench.claim.pause = () => calls.push('pause');
    bench.claim.readAgain = () => calls.push('read again');
    const handled = bench.batch(0);
    await bench.respondToAll();
    await handled;
    expect(calls).toEqual(['pause']);
    expect(bench.ranges).toEqual([]);
    expect(bench.broker.committed.offset).toBeUndefined();
    expect(bench.publisher.messages).toEqual([]);

    bench.world.nowMs += 59_000;
    bench.ingest.sealIfDue(1_000);
    expect(calls).toEqual(['pause']);
    bench.world.nowMs += 1_000;
    bench.ingest.sealIfDue(1_000);
    expect(calls).toEqual(['pause', 'read again']);
    await Promise.all([bench.ingest.drain(), bench.respondToAll()]);
    expect(bench.ranges).toEqual([]);
  });
});
