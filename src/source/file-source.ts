import { createReadStream, statSync } from 'node:fs';
import { basename } from 'node:path';
import { systemClock } from '../base/clock.ts';
import { messageOf } from '../base/failure.ts';
import { limits } from '../base/limits.ts';
import { eventText, unreadable } from './event-text.ts';
import { importIdOf } from './group-id.ts';
import { lineGroups } from './line-groups.ts';
import { RecordList, type RefusedRecord, type SourceRecord } from './record.ts';
import {
  type Claim,
  ClaimLostError,
  emptyPartition,
  type Source,
  type SourceHandler,
} from './source.ts';

export interface FileSourceOptions {
  /** Path; undefined reads `stdin`. Both may be gzipped. */
  readonly path: string | undefined;
  readonly stdin: NodeJS.ReadableStream;
  /** Start of this run. A file that is read twice is two imports, and both are counted. */
  readonly startedMs: number;
  /** Longer lines are rejected and dropped. */
  readonly maxLineBytes: number;
}

/** Limits of a batch: lines, bytes, and the time for which its first line waits for others. */
const BATCH_LINES = 4_096;
const BATCH_BYTES = 8 * 1024 * 1024;
const BATCH_MS = 100;

/**
 * Reads NDJSON from a file or standard input: one partition, one record per line, line numbers as offsets.
 * Lines of a slow writer are delivered without waiting for a full batch.
 * There is no group to commit to, so each run is a separate import. Rows of an aborted run stay, and the next
 * run counts the file again.
 */
export class FileSource implements Source {
  /** Unique per run: the ledger, tokens and the detector see a new import. */
  readonly groupId: string;
  readonly done: Promise<void>;
  readonly #options: FileSourceOptions;
  readonly #claim: FileClaim;
  #finish: () => void = () => undefined;
  #fail: (error: Error) => void = () => undefined;
  #isQuiesced = false;

  constructor(options: FileSourceOptions) {
    this.#options = options;
    const name = options.path === undefined ? 'stdin' : basename(options.path);
    this.groupId = importIdOf(options.startedMs);
    this.#claim = new FileClaim(name);
    this.done = new Promise((resolve, reject) => {
      this.#finish = resolve;
      this.#fail = reject;
    });
    this.done.catch(() => undefined);
  }

  async start(handler: SourceHandler): Promise<void> {
    const stream = this.#open();
    this.#read(stream, handler).then(this.#finish, this.#fail);
  }

  quiesce(): void {
    this.#isQuiesced = true;
  }

  async stop(): Promise<void> {
    this.quiesce();
    this.#claim.isLost = true;
  }

  #open(): AsyncIterable<Buffer> {
    const { path, stdin } = this.#options;
    if (path === undefined) return stdin as AsyncIterable<Buffer>;
    try {
      statSync(path);
    } catch (error) {
      throw unreadable(path, messageOf(error));
    }
    return createReadStream(path, { highWaterMark: 1 << 20 });
  }

  async #read(stream: AsyncIterable<Buffer>, handler: SourceHandler): Promise<void> {
    await handler.onClaimed(this.#claim, emptyPartition);
    let records: SourceRecord[] = [];
    let offset = 0;
    let bytes = 0;
    const deliver = async () => {
      const { topic, partition } = this.#claim;
      const fetchOffset = records[0]?.offset ?? offset;
      const offsets = { fetchOffset, nextOffset: offset, highWatermark: offset };
      const batch = { topic, partition, ...offsets, records: new RecordList(records) };
      records = [];
      bytes = 0;
      await handler.onBatch(this.#claim, batch, async () => undefined);
    };
    const { path = 'standard input', maxLineBytes, startedMs } = this.#options;
    let batchEndMs = 0;
    const text = eventText(stream, path);
    const { deadLetterBytes: keptBytes } = limits;
    const pieces = lineGroups(text, { maxBytes: maxLineBytes, keptBytes });
    try {
      for (;;) {
        const next = pieces.next();
        // A failure must not count as unhandled until it is awaited below.
        next.catch(() => undefined);
        const waitMs = batchEndMs - systemClock.elapsedMs();
        if (records.length > 0 && !(await settlesWithin(waitMs, next))) {
          if (this.#isQuiesced) return;
          await deliver();
        }
        const { done, value: lines } = await next;
        if (this.#isQuiesced) return;
        if (done) break;
        for (const { value, originalBytes } of lines) {
          if (originalBytes === 0) continue;
          const record = { offset, timestampMs: startedMs, value };
          const isWhole = value.length === originalBytes;
          if (records.length === 0) batchEndMs = systemClock.elapsedMs() + BATCH_MS;
          records.push(
            isWhole ? record : { ...record, refused: tooLong(originalBytes, maxLineBytes) },
          );
          offset++;
          bytes += value.length;
          if (records.length < BATCH_LINES && bytes < BATCH_BYTES) continue;
          await deliver();
          if (this.#isQuiesced) return;
        }
      }
      if (records.length > 0) await deliver();
    } finally {
      // An idle writer would delay whoever awaits this.
      pieces.return().catch(() => undefined);
    }
  }
}

/** Resolves with whether a promise settles within a time. */
async function settlesWithin(ms: number, promise: Promise<unknown>): Promise<boolean> {
  if (ms <= 0) return false;
  const settled = new AbortController();
  const isLate = systemClock.sleep(ms, settled.signal).then(() => false);
  const isInTime = promise.then(
    () => true,
    () => true,
  );
  const result = await Promise.race([isInTime, isLate]);
  settled.abort();
  return result;
}

function tooLong(bytes: number, maxBytes: number): RefusedRecord {
  const rule = `at most ${maxBytes} bytes (limits.max_message_bytes)`;
  return {
    reason: 'message_too_large',
    detail: `The line must have ${rule}: it has ${bytes}`,
    originalBytes: bytes,
  };
}

class FileClaim implements Claim {
  readonly topic: string;
  readonly partition = 0;
  isLost = false;

  constructor(topic: string) {
    this.topic = topic;
  }

  async commit(): Promise<void> {
    if (this.isLost) throw new ClaimLostError(this.topic);
  }
}
