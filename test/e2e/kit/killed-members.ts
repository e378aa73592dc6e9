import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import type { Random } from '../../../src/generate/random.ts';
import { decodeMetadata } from '../../../src/ingest/commit-metadata.ts';
import { createKafkaClient } from '../../../src/kafka/client/kafka-client.ts';
import { poll } from './poll.ts';
import type { Rig } from './rig.ts';
import type { Child } from './start-child.ts';

/** Spread over the partitions in turn. */
export const spread = (messages: readonly Buffer[], partitions: number) =>
  messages.map((value, n) => ({ value, partition: n % partitions }));

/** Returns the ledger's first and last offset and its records, by partition. */
export async function ledger(rig: Rig) {
  const rows = await rig.rows<Record<string, string>>(
    `SELECT partition, min(start_offset) AS first, max(end_offset) AS end, sum(records) AS records
     FROM flushes GROUP BY partition ORDER BY partition`,
  );
  return rows.map(({ partition, first, end, records }) =>
    [partition, first, end, records].map(Number),
  );
}

/** Partitions with a pending chunk in their commit. */
export async function pendingIntents(rig: Rig): Promise<number> {
  const admin = createKafkaClient(rig.config.kafka).admin();
  await admin.connect();
  const [topic] = await admin.fetchOffsets({
    groupId: rig.config.kafka.group_id,
    topics: [rig.topic],
  });
  await admin.disconnect();
  const notes = (topic?.partitions ?? []).map(({ metadata }) => decodeMetadata(metadata ?? ''));
  return notes.filter((note) => note?.intent !== undefined).length;
}

export const taken = (child: Child) => child.err().split('partition assigned').length - 1;

/** Resolves a random moment after a process has started to store chunks. */
export async function storing(rig: Rig, child: Child, random: Random): Promise<void> {
  await child.logged('partition assigned');
  const before = await rig.consumed();
  await poll('chunks are stored', async () => ((await rig.consumed()) > before ? true : undefined));
  await sleep(Math.floor(random.uniform() * 300));
}

export async function kill(child: Child): Promise<void> {
  child.signal('SIGKILL');
  expect(await child.exited).toBe('SIGKILL');
}

/**
 * Kills the only process that runs once it stands still in the middle of a chunk. Resolves with the number
 * of partitions whose chunk is begun and not ended.
 */
export async function killInChunk(rig: Rig, child: Child): Promise<number> {
  await poll('it stands still in the middle of a chunk', async () => {
    child.signal('SIGSTOP');
    if ((await pendingIntents(rig)) > 0) return true;
    child.signal('SIGCONT');
    return undefined;
  });
  await kill(child);
  return pendingIntents(rig);
}
