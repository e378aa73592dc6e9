import { deepStrictEqual, ok } from 'node:assert';
import { gzipSync } from 'node:zlib';
import { compressFrameSync } from 'lz4-napi';
import snappy from 'snappy';
import { OperatorError } from '../../src/base/operator-error.ts';
import { configSchema } from '../../src/config/schema.ts';
import { chunkSettingsOf } from '../../src/ingest/chunk/chunk-settings.ts';
import { decodeMetadata, encodeMetadata } from '../../src/ingest/commit-metadata.ts';
import { inflateRecords } from '../../src/kafka/compression/compression.ts';
import { InflateError } from '../../src/kafka/compression/inflate-error.ts';
import { decodeFetchResponse } from '../../src/kafka/protocol/fetch-response.ts';
import { RecordBatchReader } from '../../src/kafka/protocol/record-batch-reader.ts';
import { RowBinaryReader } from '../../src/sink/row-binary/row-binary-reader.ts';
import { RowBinaryWriter } from '../../src/sink/row-binary/row-binary-writer.ts';
import { decodeState, encodeState } from '../../src/sketch/clickhouse-state.ts';
import { zstdFrame } from '../kafka/compression/zstd-frame.ts';
import { allOf, encodeBatch, encodeResponse, recordsOf } from '../kafka/record-batch.ts';
import type { FuzzMessages } from './fuzz-messages.ts';

const maxBytes = 64 * 1024;
const settings = chunkSettingsOf(configSchema.parse({}));
const numbers = {
  firstTimestampMs: 1,
  lastTimestampMs: 2,
  watermarkMs: 3,
  leaderEpoch: 2,
  records: 4,
  consumed: 5,
};
const counts = {
  ...numbers,
  ...{ aggregated: 5, rejected: 0, late: 0, overflow: 0, unmapped: 0, weight: 5, lateMerged: 0 },
  ...{ removedEvents: 0, removedOffsets: 0 },
  rows: { rowCount: 1, samples: 1, windowMinMs: 0, windowMaxMs: 0 },
};

type Target = (messages: FuzzMessages) => Promise<void> | void;

/** Every reader of bytes but the message decoder; each is given what is valid, mutated. */
const targets: Readonly<Record<string, Target>> = {
  gzip: (messages) => inflates(messages, gzipSync(messages.next()), 1),
  snappy: (messages) => inflates(messages, snappy.compressSync(messages.next()), 2),
  lz4: (messages) => inflates(messages, compressFrameSync(messages.next()), 3),
  zstd: (messages) => {
    const blocks = [messages.next(), { byte: 1, times: Math.floor(messages.random() * 2e5) }];
    const windowLog = messages.random() < 0.5 ? undefined : 10 + Math.floor(messages.random() * 20);
    return inflates(messages, zstdFrame(blocks, windowLog), 4);
  },
  recordBatch: async (messages) => {
    const values = [messages.next(), null, messages.next()];
    const records = recordsOf(
      values,
      new Array(Math.floor(messages.random() * 3)).fill(['h', null]),
    );
    const codec = Math.floor(messages.random() * 8);
    const packed = [
      records,
      gzipSync(records),
      snappy.compressSync(records),
      compressFrameSync(records),
    ];
    const payload = messages.mutate(packed[codec] ?? records);
    const batch = encodeBatch({ codec, count: 3, payload });
    const reader = new RecordBatchReader(maxBytes);
    const decoded = allOf(await reader.read(batch, [], { inflatedBytes: 0 }));
    deepStrictEqual(decoded.length, 3);
  },
  fetchAnswer: async (messages) => {
    const batch = encodeBatch({ count: 1, payload: recordsOf([messages.next()]) });
    const answer = messages.mutate(encodeResponse([{ partition: 0, bytes: batch }]));
    const reader = new RecordBatchReader(maxBytes);
    const fetch = async () => {
      const { responses } = await decodeFetchResponse(answer, 11, reader);
      for (const { partitions } of responses) {
        for (const { messages: marks } of partitions) {
          for (const { records } of marks) if (records !== undefined) allOf(records);
        }
      }
    };
    // A batch whose checksum differs is read when it comes the second time.
    await refusesLater([OperatorError, RangeError], fetch);
    await refusesLater([OperatorError, RangeError], fetch);
  },
  rowBinaryReader: (messages) => {
    const reader = new RowBinaryReader(messages.mutate(messages.next()));
    const reads = [
      () => reader.uint8(),
      () => reader.int16(),
      () => reader.uint32(),
      () => reader.uint64(),
      () => reader.float64(),
      () => reader.varUint(),
      () => reader.string(),
    ];
    refuses([RangeError], () => {
      while (!reader.atEnd) reads[Math.floor(messages.random() * reads.length)]?.();
    });
    ok(reader.at <= reader.bytes.length);
  },
  rowBinaryRoundTrip: (messages) => {
    const writer = new RowBinaryWriter(16);
    const text = messages.next().toString('utf8');
    const count = Math.floor(messages.random() * 2 ** 50);
    writer.string(text);
    writer.varUint(count);
    writer.float64(-messages.random());
    writer.uint64(count);
    const reader = new RowBinaryReader(writer.copy());
    deepStrictEqual([reader.string(), reader.varUint()], [text, count]);
    ok(reader.float64() <= 0);
    deepStrictEqual([reader.uint64(), reader.atEnd], [count, true]);
  },
  clickHouseState: (messages) => {
    const means = Float64Array.from({ length: 20 }, () => messages.random() * 100).sort();
    const bytes = new Uint8Array(1024);
    const end = encodeState(means, new Float64Array(20).fill(1), 20, bytes, 0);
    const whole = Buffer.from(bytes.subarray(0, end));
    deepStrictEqual(decodeState(whole).next, end);
    refuses([OperatorError], () => decodeState(messages.mutate(whole)));
  },
  commitNote: (messages) => {
    const intent = { endOffset: 9, nowMs: 1, settings, counts };
    const note = encodeMetadata({
      logId: 'c/t',
      leaderEpoch: 1,
      watermarkMs: messages.random(),
      intent,
    });
    refuses([OperatorError], () =>
      decodeMetadata(messages.mutate(Buffer.from(note)).toString('utf8')),
    );
    refuses([OperatorError], () => decodeMetadata(messages.next().toString('utf8')));
  },
};

export const codecNames = Object.keys(targets);

/**
 * Fuzzes every codec in turn.
 *
 * @throws where one throws other than it may, or gives more than its bound.
 * @returns the milliseconds of the slowest call.
 */
export async function fuzzCodecs(messages: FuzzMessages, count: number): Promise<number> {
  let slowestMs = 0;
  for (let i = 0; i < count; i++) {
    const name = codecNames[i % codecNames.length] as string;
    const startedMs = performance.now();
    try {
      await targets[name]?.(messages);
    } catch (error) {
      throw new Error(`${name}, call ${i} of the round`, { cause: error });
    }
    slowestMs = Math.max(slowestMs, performance.now() - startedMs);
  }
  return slowestMs;
}

async function inflates(messages: FuzzMessages, valid: Buffer, codec: number): Promise<void> {
  try {
    const inflated = await inflateRecords(messages.mutate(valid), codec, maxBytes);
    ok(inflated.length <= maxBytes, `${inflated.length} bytes inflated`);
  } catch (error) {
    if (!(error instanceof InflateError)) throw error;
  }
}

async function refusesLater(
  allowed: readonly (new (...args: never[]) => Error)[],
  action: () => Promise<void>,
): Promise<void> {
  try {
    await action();
  } catch (error) {
    if (!allowed.some((kind) => error instanceof kind)) throw error;
  }
}

function refuses(allowed: readonly (new (...args: never[]) => Error)[], action: () => void): void {
  try {
    action();
  } catch (error) {
    if (!allowed.some((kind) => error instanceof kind)) throw error;
  }
}
