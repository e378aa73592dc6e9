import type { Clock } from '../base/clock.ts';
import { messageOf } from '../base/failure.ts';
import type { ProbeFinding } from '../base/probe-finding.ts';
import type { Config } from '../config/schema.ts';
import { KafkaAdmin } from '../kafka/client/kafka-admin.ts';
import { OffsetReader, type WantedRecords } from '../kafka/offset-reader.ts';
import type { ReadHeaders } from '../source/record.ts';

/** Records of a log may be gone or hidden: those that came by then count. */
export const longestReadMs = 8_000;

export interface NewestRecord {
  readonly partition: number;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers?: ReadHeaders;
}

/** The newest records of a topic, as many of each partition. */
export interface NewestRecords {
  readonly partitions: number;
  readonly records: NewestRecord[];
}

/**
 * Reads the newest records of topics, by name.
 *
 * @param most records of a topic.
 */
export async function readNewest(
  { kafka, limits }: Config,
  topics: readonly string[],
  most: number,
  clock: Clock,
): Promise<ReadonlyMap<string, NewestRecords>> {
  const found = new Map<string, NewestRecords>();
  const done = new AbortController();
  let admin: KafkaAdmin | undefined;
  let reader: OffsetReader | undefined;
  try {
    admin = await KafkaAdmin.open(kafka, 'read records');
    const wanted: WantedRecords[] = [];
    for (const topic of topics) {
      const partitions = await admin.rangesOfAll(topic);
      found.set(topic, { partitions: partitions.length, records: [] });
      const filled = partitions.filter(({ low, high }) => high > low);
      const each = Math.max(1, Math.floor(most / Math.max(1, filled.length)));
      for (const { partition, low, high } of filled.slice(0, most)) {
        const first = Math.max(low, high - each);
        const offsets = Array.from({ length: high - first }, (_, i) => first + i);
        wanted.push({ topic, partition, offsets });
      }
    }
    if (wanted.length > 0) {
      reader = await OffsetReader.open(kafka, topics, limits.max_batch_bytes);
      const read = reader.read(wanted, ({ topic, partition, key, value, headers, refused }) => {
        if (refused !== undefined) return;
        const copies = { key: key && Buffer.from(key), value: value && Buffer.from(value) };
        const own = new Map([...(headers?.() ?? [])].map(([name, of]) => [name, Buffer.from(of)]));
        found.get(topic)?.records.push({ partition, ...copies, headers: () => own });
      });
      await Promise.race([read, clock.sleep(longestReadMs, done.signal)]);
      read.catch(() => undefined);
    }
    return found;
  } finally {
    done.abort();
    await Promise.allSettled([admin?.close(), reader?.close()]);
  }
}

/** The finding where no records could be read. */
export function unreadFinding(error: unknown): ProbeFinding {
  const detail = `records are not read: ${messageOf(error)}`;
  return { ok: true, isWarning: true, what: 'Kafka records', detail };
}
