import { randomUUID } from 'node:crypto';
import type { Consumer, EachBatchPayload } from 'kafkajs';
import { minuteMs } from '../base/time.ts';
import type { Config } from '../config/schema.ts';
import type { ReadHeaders } from '../source/record.ts';
import type { PartitionName } from './client/kafka-admin.ts';
import { createKafkaClient, kafkaError } from './client/kafka-client.ts';
import { fetchedRecordsOf } from './protocol/fetch-response.ts';
import { RecordBatchReader } from './protocol/record-batch-reader.ts';

/** Records of one partition to be read. */
export interface WantedRecords extends PartitionName {
  /** Ascending. Each must be of a record that the log holds, or of one that it has lost. */
  readonly offsets: readonly number[];
}

/** A record, or the reason why it cannot be decoded. */
export interface ReadRecord extends PartitionName {
  readonly offset: number;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers: ReadHeaders | undefined;
  readonly refused: string | undefined;
}

/** Records in between that are read rather than passed over by a new fetch. */
const NEAR_OFFSETS = 5_000;
const STALLED_MS = minuteMs;

interface Job {
  readonly wanted: WantedRecords;
  next: number;
}

/**
 * Reads single records of topics by their offsets, as ingest reads them. It is a member of a separate group,
 * which commits nothing.
 */
export class OffsetReader {
  readonly #config: Config['kafka'];
  readonly #consumer: Consumer;
  readonly #jobs = new Map<string, Job>();
  #onRecord: (record: ReadRecord) => void = () => undefined;
  #progressMs = 0;
  #onProgress: () => void = () => undefined;
  #failure: Error | undefined;

  /** @param maxBatchBytes of a record batch, when it is decompressed. */
  static async open(
    config: Config['kafka'],
    topics: readonly string[],
    maxBatchBytes: number,
  ): Promise<OffsetReader> {
    const reader = new OffsetReader(config, maxBatchBytes);
    try {
      await reader.#start(topics);
      return reader;
    } catch (error) {
      await reader.close();
      throw kafkaError(error, `read topics ${topics.join(', ')}`, config);
    }
  }

  private constructor(config: Config['kafka'], maxBatchBytes: number) {
    this.#config = config;
    const reader = new RecordBatchReader(maxBatchBytes);
    this.#consumer = createKafkaClient(config, { retries: 3, reader }).consumer({
      groupId: `${config.client_id}-offsets-${randomUUID()}`,
      allowAutoTopicCreation: false,
      maxWaitTimeInMs: 250,
    });
  }

  /**
   * Reads records; those that the log does not hold any more are left out.
   *
   * @param onRecord receives each. Its key, value and headers are overwritten afterwards.
   * @throws OperatorError where Kafka delivers nothing for a minute.
   */
  async read(all: readonly WantedRecords[], onRecord: (record: ReadRecord) => void): Promise<void> {
    this.#onRecord = onRecord;
    this.#progressMs = performance.now();
    for (const wanted of all) {
      const { topic, partition, offsets } = wanted;
      const [first] = offsets;
      if (first === undefined) continue;
      this.#jobs.set(`${topic}/${partition}`, { wanted, next: 0 });
      this.#consumer.seek({ topic, partition, offset: String(first) });
      this.#consumer.resume([{ topic, partitions: [partition] }]);
    }
    while (this.#jobs.size > 0) {
      if (this.#failure !== undefined) throw this.#errorOf(this.#failure);
      if (performance.now() - this.#progressMs > STALLED_MS) {
        const left = [...this.#jobs.keys()].join(', ');
        throw this.#errorOf(new Error(`no records of ${left} for ${STALLED_MS / 1000} s`));
      }
      await this.#nextProgress();
    }
  }

  close(): Promise<void> {
    return this.#consumer.disconnect();
  }

  async #start(topics: readonly string[]): Promise<void> {
    const consumer = this.#consumer;
    await consumer.connect();
    await consumer.subscribe({ topics: [...topics], fromBeginning: true });
    consumer.on('consumer.crash', ({ payload }) => {
      if (!payload.restart) this.#failure = payload.error;
    });
    // A batch of transaction markers alone is given to nobody.
    consumer.on('consumer.end_batch_process', ({ payload }) => {
      if (payload.batchSize === 0) this.#advance(payload, Number(payload.lastOffset));
    });
    const joined = new Promise<void>((resolve) => {
      consumer.on('consumer.group_join', ({ payload }) => {
        for (const [topic, partitions] of Object.entries(payload.memberAssignment)) {
          const idle = partitions.filter((partition) => !this.#jobs.has(`${topic}/${partition}`));
          consumer.pause([{ topic, partitions: idle }]);
        }
        resolve();
      });
    });
    await consumer.run({
      autoCommit: false,
      eachBatchAutoResolve: false,
      eachBatch: async (payload) => this.#onBatch(payload),
    });
    await joined;
  }

  #onBatch({ batch, resolveOffset }: EachBatchPayload): void {
    const { topic, partition } = batch;
    const job = this.#jobs.get(`${topic}/${partition}`);
    if (job === undefined || batch.messages.length === 0) return;
    const { offsets } = job.wanted;
    const records = fetchedRecordsOf(batch);
    const lastOffset = Number(batch.lastOffset());
    for (; records.current !== undefined; records.advance()) {
      const { offset, value, headers, refused } = records.current;
      // Records before this one are gone.
      while ((offsets[job.next] ?? Number.POSITIVE_INFINITY) < offset) job.next++;
      if (offsets[job.next] !== offset) continue;
      job.next++;
      const key = records.key();
      const read = { topic, partition, offset, key, value, headers };
      this.#onRecord({ ...read, refused: refused?.detail });
    }
    resolveOffset(String(lastOffset));
    this.#advance(batch, lastOffset);
  }

  /** Goes on after an offset up to which all records have come. */
  #advance({ topic, partition }: PartitionName, lastOffset: number): void {
    const name = `${topic}/${partition}`;
    const job = this.#jobs.get(name);
    if (job === undefined) return;
    const { offsets } = job.wanted;
    while ((offsets[job.next] ?? Number.POSITIVE_INFINITY) <= lastOffset) job.next++;
    const next = offsets[job.next];
    if (next === undefined) {
      this.#jobs.delete(name);
      this.#consumer.pause([{ topic, partitions: [partition] }]);
    } else if (next > lastOffset + NEAR_OFFSETS) {
      this.#consumer.seek({ topic, partition, offset: String(next) });
    }
    this.#progressMs = performance.now();
    this.#onProgress();
  }

  async #nextProgress(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.#onProgress = resolve;
      timer = setTimeout(resolve, 1_000);
    });
    clearTimeout(timer);
  }

  #errorOf(error: Error) {
    return kafkaError(error, 'read rejected events again', this.#config);
  }
}
