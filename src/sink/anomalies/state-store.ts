import { randomUUID } from 'node:crypto';
import type { ClickHouseClient } from '@clickhouse/client';
import { type StatePart, sharedPart } from '../../detect/state-parts.ts';
import { UnreadableState } from '../../snapshot/archive.ts';
import { addedSettings } from '../client/insert-settings.ts';
import { readRows } from '../client/read-query.ts';
import { rowBinaryOf, rowBinaryStream, sendBytes } from '../row-binary/row-binary-of.ts';
import { RowBinaryReader } from '../row-binary/row-binary-reader.ts';
import { RowBinaryWriter } from '../row-binary/row-binary-writer.ts';
import { decodedParts } from './decode-parts.ts';

export interface Snapshot {
  readonly asOfMs: number;
  /** The shared part, which is needed to read the others. @throws UnreadableState when it is missing. */
  readonly shared: () => Promise<Buffer>;
  /** The other parts, in any order, streamed. */
  readonly parts: () => AsyncIterable<StatePart>;
}

type StateParams = Readonly<Record<'detector' | 'slot' | 'snapshot', string | number>>;

/** Parts are inserted in batches of this size. It bounds memory, not the size of a snapshot. */
const insertBytes = 8 * 1024 * 1024;
const slots = 2;

const insertParts = `INSERT INTO detector_state (detector, slot, part, snapshot, as_of, reign, state)
FORMAT RowBinary`;

/** Stores a detector's snapshots in ClickHouse: the last complete one, and the one before. */
export class StateStore {
  readonly #client: ClickHouseClient;
  readonly #detector: string;
  readonly #writer = new RowBinaryWriter();
  /** Start of this process's leadership, later than that of every stored snapshot. */
  #reign: number;
  /** Slot of the last complete snapshot, which must not be overwritten. */
  #slot: number | undefined;

  /** @param detector name of the detector's group. */
  constructor(client: ClickHouseClient, detector: string, nowMs: number) {
    this.#client = client;
    this.#detector = detector;
    this.#reign = nowMs;
  }

  /** Saves a snapshot part by part; returns its bytes. It becomes valid once its last row is saved. */
  async save(asOfMs: number, parts: Iterable<StatePart>): Promise<number> {
    this.#slot ??= (await this.#newest(asOfMs))[0]?.slot ?? slots - 1;
    const slot = (this.#slot + 1) % slots;
    const snapshot = randomUUID();
    const writer = this.#writer;
    let count = 0;
    let bytes = 0;
    writer.reset();
    for (const part of parts) {
      writer.string(this.#detector);
      writer.uint8(slot);
      writer.string(part.name);
      writer.string(snapshot);
      writer.uint64(asOfMs);
      writer.uint64(this.#reign);
      writer.utf8(part.bytes);
      count++;
      bytes += part.bytes.length;
      if (writer.length >= insertBytes) await this.#send();
    }
    await this.#send();
    await this.#client.insert({
      table: 'detector_snapshots',
      values: [
        {
          ...{ detector: this.#detector, as_of: asOfMs, snapshot, slot },
          ...{ parts: count, bytes, reign: this.#reign },
        },
      ],
      format: 'JSONEachRow',
      clickhouse_settings: addedSettings(),
    });
    this.#slot = slot;
    return bytes;
  }

  /**
   * Yields the snapshots of that time or earlier, the newest first, each read on demand. Skips incomplete
   * ones: a successor that gave up may have overwritten the slot.
   */
  async *snapshots(untilMs: number): AsyncGenerator<Snapshot, void> {
    for (const { snapshot, slot, parts, asOfMs } of await this.#newest(untilMs)) {
      const params = { detector: this.#detector, slot, snapshot };
      const [row] = await readRows<{ parts: string }>(this.#client, 'detector_state_parts', params);
      if (Number(row?.parts) !== parts) continue;
      this.#slot = slot;
      yield {
        asOfMs,
        shared: () => this.#shared(params),
        parts: () => this.#parts(params),
      };
    }
  }

  /** Times of the last snapshots of that time or earlier, the newest first. */
  async timesMs(untilMs: number): Promise<number[]> {
    return (await this.#newest(untilMs)).map(({ asOfMs }) => asOfMs);
  }

  /** Reads the last snapshots, and moves this process's leadership after theirs. */
  async #newest(untilMs: number) {
    const rows = await readRows<
      Record<'snapshot' | 'slot' | 'parts' | 'reign' | 'as_of_ms', string>
    >(this.#client, 'detector_snapshots', { detector: this.#detector, untilMs });
    this.#reign = Math.max(this.#reign, ...rows.map(({ reign }) => Number(reign) + 1));
    return rows.map(({ snapshot, slot, parts, as_of_ms }) => {
      return { snapshot, slot: Number(slot), parts: Number(parts), asOfMs: Number(as_of_ms) };
    });
  }

  async #shared(params: StateParams): Promise<Buffer> {
    const bytes = await rowBinaryOf(this.#client, 'detector_state_part', {
      ...params,
      part: sharedPart,
    });
    if (bytes.length === 0) throw new UnreadableState(`its part ${sharedPart} is missing`);
    const reader = new RowBinaryReader(bytes);
    return reader.readBytes(reader.varUint());
  }

  async *#parts(params: StateParams): AsyncGenerator<StatePart, void> {
    const response = await rowBinaryStream(this.#client, 'detector_state', params);
    for await (const part of decodedParts(response)) if (part.name !== sharedPart) yield part;
  }

  async #send(): Promise<void> {
    if (this.#writer.length === 0) return;
    const bytes = this.#writer.copy();
    this.#writer.reset();
    await sendBytes(this.#client, insertParts, bytes, {
      clickhouse_settings: addedSettings(),
    });
  }
}
