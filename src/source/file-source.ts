import { createReadStream, statSync } from 'node:fs';
import { basename } from 'node:path';
import { createGunzip } from 'node:zlib';
import { exitCodes } from '../base/exit-codes.ts';
import { invariant } from '../base/invariant.ts';
import { OperatorError } from '../base/operator-error.ts';
import type { SourceRecord } from './record.ts';
import { type Claim, ClaimLostError, type Source, type SourceHandler } from './source.ts';

export interface FileSourceOptions {
  /** A path, gzipped if it ends in `.gz`; undefined reads `stdin`. */
  readonly path: string | undefined;
  readonly stdin: NodeJS.ReadableStream;
  /** When this run began: a file read twice is two imports, each counted. */
  readonly startedMs: number;
}

/** Lines handed out together. */
const BATCH_LINES = 4_096;

/**
 * NDJSON from a file or standard input: one partition, a line a record, offsets are line numbers.
 * There is no group to commit to, so each run is an import of its own: what a run that was cut
 * short had stored stays, and a new run counts the file anew.
 */
export class FileSource implements Source {
  /** Of its own for each run: in the ledger, in tokens and for the detector it is a new import. */
  readonly groupId: string;
  readonly done: Promise<void>;
  readonly #options: FileSourceOptions;
  readonly #claim: FileClaim;
  #finish: () => void = () => undefined;
  #fail: (error: Error) => void = () => undefined;
  #quiet = false;

  constructor(options: FileSourceOptions) {
    this.#options = options;
    const name = options.path === undefined ? 'stdin' : basename(options.path);
    this.groupId = `file/${new Date(options.startedMs).toISOString()}`;
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
    this.#quiet = true;
  }

  async stop(): Promise<void> {
    this.#quiet = true;
    this.#claim.isLost = true;
  }

  #open(): AsyncIterable<Buffer> {
    const { path, stdin } = this.#options;
    if (path === undefined) return stdin as AsyncIterable<Buffer>;
    try {
      statSync(path);
    } catch (error) {
      throw unreadable(path, error);
    }
    const file = createReadStream(path, { highWaterMark: 1 << 20 });
    if (!path.endsWith('.gz')) return file;
    const gunzip = createGunzip({ chunkSize: 1 << 20 });
    file.on('error', (error) => gunzip.destroy(error));
    return file.pipe(gunzip);
  }

  async #read(stream: AsyncIterable<Buffer>, handler: SourceHandler): Promise<void> {
    let records: SourceRecord[] = [];
    let offset = 0;
    const handOut = async () => {
      const fetchOffset = records[0]?.offset ?? offset;
      const batch = { fetchOffset, records, nextOffset: offset, highWatermark: offset };
      records = [];
      const { topic, partition } = this.#claim;
      await handler.onBatch(this.#claim, { topic, partition, ...batch }, async () => undefined);
    };
    for await (const line of linesOf(readable(stream, this.#options.path ?? 'standard input'))) {
      if (this.#quiet) return;
      records.push({ offset, timestampMs: this.#options.startedMs, value: line });
      offset++;
      if (records.length >= BATCH_LINES) await handOut();
    }
    if (records.length > 0 && !this.#quiet) await handOut();
  }
}

/** The stream, whose failures are the operator's to mend; those of who takes its lines are not. */
async function* readable(stream: AsyncIterable<Buffer>, name: string): AsyncGenerator<Buffer> {
  try {
    yield* stream;
  } catch (error) {
    throw unreadable(name, error);
  }
}

/** Lines without their ends; empty lines are left out. A last line needs no end. */
async function* linesOf(stream: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let rest: Buffer[] = [];
  for await (const part of stream) {
    const bytes = Buffer.isBuffer(part) ? part : Buffer.from(part);
    let start = 0;
    for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, start)) {
      rest.push(bytes.subarray(start, end));
      const line = withoutReturn(rest.length === 1 ? (rest[0] as Buffer) : Buffer.concat(rest));
      rest = [];
      start = end + 1;
      if (line.length > 0) yield line;
    }
    if (start < bytes.length) rest.push(bytes.subarray(start));
  }
  const last = withoutReturn(Buffer.concat(rest));
  if (last.length > 0) yield last;
}

function withoutReturn(line: Buffer): Buffer {
  return line[line.length - 1] === 13 ? line.subarray(0, -1) : line;
}

function unreadable(path: string, error: unknown): OperatorError {
  const detail = error instanceof Error ? error.message : String(error);
  return new OperatorError('TAILMARK_FILE_UNREADABLE', `Cannot read ${path}: ${detail}`, {
    hint: 'Give an NDJSON file of timing events, gzipped if its name ends in .gz.',
    exitCode: exitCodes.usage,
    cause: error,
  });
}

class FileClaim implements Claim {
  readonly topic: string;
  readonly partition = 0;
  isLost = false;

  constructor(topic: string) {
    this.topic = topic;
  }

  async committed() {
    return { offset: undefined, metadata: '' };
  }

  async commit(): Promise<void> {
    if (this.isLost) throw new ClaimLostError(this.topic);
  }

  rewind(): void {
    invariant(false, 'a file has no committed offset to go back to');
  }
}
