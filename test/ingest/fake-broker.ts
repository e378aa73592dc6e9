import { type RecordBatch, RecordList, type SourceRecord } from '../../src/source/record.ts';
import {
  type Claim,
  ClaimLostError,
  type CommittedOffset,
  type FoundPartition,
} from '../../src/source/source.ts';
import type { FakeWorld } from './fake-world.ts';

/** One partition and its consumer group: a log, the committed offset, and the member that may commit. */
export class FakeBroker {
  readonly topic = 't';
  readonly partition: number;
  readonly records: readonly SourceRecord[];
  readonly endOffset: number;
  /** Problems that no response shows. */
  readonly problems: string[] = [];
  #generation = 0;
  #committed: CommittedOffset = { offset: undefined, metadata: '' };

  /** @param endOffset offset after the last record, markers and compacted records included */
  constructor(records: readonly SourceRecord[], endOffset: number, partition = 0) {
    this.records = records;
    this.endOffset = endOffset;
    this.partition = partition;
  }

  get committed(): CommittedOffset {
    return this.#committed;
  }

  /** Metadata of the partition when a source claims it. */
  get found(): FoundPartition {
    return {
      logId: 'c/t',
      endOfEpoch: async () => undefined,
      committed: this.#committed,
      startOffset: this.records[0]?.offset ?? this.endOffset,
      endOffset: this.endOffset,
      firstOffsetAt: async (timestampMs) =>
        this.records.find((record) => record.timestampMs >= timestampMs)?.offset ?? this.endOffset,
    };
  }

  /** Assigns the partition to a member, whose commits count from here on. */
  join(): number {
    return ++this.#generation;
  }

  /** @throws {ClaimLostError} when the partition is assigned to another member */
  requireMember(generation: number): void {
    if (generation !== this.#generation) throw new ClaimLostError(`generation ${generation}`);
  }

  commit(generation: number, offset: number, metadata: string): void {
    this.requireMember(generation);
    if (offset < (this.#committed.offset ?? 0)) {
      this.problems.push(`offset ${offset} committed after ${this.#committed.offset}`);
    }
    this.#committed = { offset, metadata };
  }

  /** Returns at most `count` records from an offset on; undefined at the end of the log. */
  batch(fetchOffset: number, count: number): RecordBatch | undefined {
    const from = this.records.findIndex((record) => record.offset >= fetchOffset);
    if (from < 0) return undefined;
    const records = this.records.slice(from, from + count);
    const next = this.records[from + count];
    const last = records.at(-1)?.offset ?? fetchOffset;
    return {
      topic: this.topic,
      partition: this.partition,
      fetchOffset,
      records: new RecordList(records),
      // Half the batches end with offsets that hold no record, where there are some, as in Kafka.
      nextOffset: last % 2 === 0 ? last + 1 : (next?.offset ?? this.endOffset),
      highWatermark: this.endOffset,
    };
  }
}

/** A claim as KafkaSource gives it: a refusal or a notification shows that it is lost. */
export class FakeClaim implements Claim {
  readonly topic: string;
  readonly partition: number;
  isLost = false;
  /** Given by tests of pauses. */
  pause?: () => void;
  readAgain?: () => void;
  readonly #broker: FakeBroker;
  readonly #world: FakeWorld;
  readonly #process: number;
  readonly #generation: number;

  constructor(broker: FakeBroker, world: FakeWorld, process: number, generation: number) {
    this.topic = broker.topic;
    this.partition = broker.partition;
    this.#broker = broker;
    this.#world = world;
    this.#process = process;
    this.#generation = generation;
  }

  /** Metadata of the partition for the source. */
  find(): Promise<FoundPartition> {
    return this.#world.ask(this.#process, 'find', () => this.#broker.found);
  }

  async commit(offset: number, metadata: string): Promise<void> {
    if (this.isLost) throw new ClaimLostError('lost');
    const name = metadata.includes('"intent"') ? 'commit intent' : 'commit end';
    await this.#orLose(name, () => this.#broker.commit(this.#generation, offset, metadata));
  }

  /** A heartbeat. */
  readonly keepAlive = async (): Promise<void> => {
    if (this.isLost) throw new ClaimLostError('lost');
    await this.#orLose('keep alive', () => this.#broker.requireMember(this.#generation));
  };

  async #orLose(name: string, effect: () => void): Promise<void> {
    try {
      await this.#world.ask(this.#process, name, effect);
    } catch (error) {
      if (error instanceof ClaimLostError) this.isLost = true;
      throw error;
    }
  }
}
