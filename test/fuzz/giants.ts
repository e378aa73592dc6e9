import { gzipSync } from 'node:zlib';
import { compressFrameSync } from 'lz4-napi';
import snappy from 'snappy';
import { RecordBatchReader } from '../../src/kafka/protocol/record-batch-reader.ts';
import { testDecoder } from '../decode/outcomes.ts';
import { zstdFrame } from '../kafka/compression/zstd-frame.ts';
import { allOf, encodeBatch } from '../kafka/record-batch.ts';

const mebibyte = 1 << 20;
const maxBatchBytes = 32 * mebibyte;
const longest = 16 * mebibyte;

/** Makes its input, and gives what is to be measured with it. */
export type Giant = () => () => Promise<void> | void;

/** What one message or one batch can do to memory and time; each is run in a process of its own. */
export const giants: Readonly<Record<string, Giant>> = {
  '50 MB of x': () => decoding(Buffer.alloc(50e6, 'x')),
  '50 MB of events': () =>
    decoding(Buffer.alloc(50e6, '{"ts":1789000000123,"model":"m","total_ms":1}\n')),
  '16 MiB of one text': () =>
    decoding(filled('{"ts":1789000000123,"model":"', 'x', '","total_ms":1}')),
  '16 MiB of escapes': () =>
    decoding(filled('{"ts":1789000000123,"model":"', '\\u0041', '","total_ms":1}')),
  '16 MiB of [': () => decoding(filled('[', '[', '')),
  '16 MiB of {': () => decoding(filled('', '{', '')),
  '16 MiB of { a line each': () => decoding(filled('', '{\n', '')),
  '16 MiB of {"a": a line each': () => decoding(filled('', '{"a":\n', '')),
  '16 MiB of an array of broken events': () => decoding(filled('[', '{"ts":},', '')),
  '16 MiB of quotes': () => decoding(filled('{', '"', '}')),
  '16 MiB of one number': () => decoding(filled('{"ts":1', '1', ',"model":"m","total_ms":1}')),
  '16 MiB of unknown keys': () =>
    decoding(filled('{"ts":1789000000123,', '"k":[0],', '"model":"m","total_ms":1}')),
  '16 MiB of stages': () => decoding(filled('{"ts":1,"stages_ms":{', '"a":1,', '"b":2}}')),
  'depth 10^5 of arrays': () => decoding(Buffer.from(`{"x":${'['.repeat(1e5)}${']'.repeat(1e5)}}`)),
  'depth 10^5 of objects': () => decoding(Buffer.from(`${'{"a":'.repeat(1e5)}1${'}'.repeat(1e5)}`)),
  'depth 10^5, never closed': () => decoding(Buffer.from('[{"a":'.repeat(1e5))),
  'gzip 1:1000': () =>
    reading(1, Buffer.concat(new Array(64).fill(gzipSync(Buffer.alloc(longest))))),
  'snappy that says 1 GB': () =>
    reading(2, Buffer.concat([Buffer.from([0x80, 0x80, 0x80, 0x80, 4]), Buffer.alloc(mebibyte)])),
  'snappy 1:21': () => reading(2, snappy.compressSync(Buffer.alloc(20 * mebibyte))),
  'lz4 1:255': () => reading(3, lz4Bomb()),
  'zstd 1:30000': () =>
    reading(4, zstdFrame(new Array(8_000).fill({ byte: 0, times: 131_072 }), 17)),
  'zstd, one segment of 1 GB': () =>
    reading(4, zstdFrame(new Array(8_000).fill({ byte: 0, times: 131_072 }))),
  'zstd with a window of 2 GB': () => reading(4, zstdFrame([Buffer.alloc(mebibyte)], 31)),
};

/** `unit` over and over, of the longest message that is decoded. */
function filled(before: string, unit: string, after: string): Buffer {
  const bytes = Buffer.alloc(longest, ' ');
  const end = bytes.length - after.length;
  const units = Math.floor((end - before.length) / unit.length);
  bytes.write(before, 0);
  bytes.fill(unit, before.length, before.length + units * unit.length);
  bytes.write(after, end);
  return bytes;
}

function decoding(message: Buffer) {
  return () => {
    const { decoder } = testDecoder();
    let given = 0;
    const count = decoder.decode(message, {
      event: () => given++,
      reject: () => given++,
      skip: (more) => {
        given += more;
      },
    });
    if (count !== given || count === 0) throw new Error(`${count} events, ${given} given`);
  };
}

/** A batch of 1,000 records, all of which must come out, as they are or as rejected. */
function reading(codec: number, payload: Buffer) {
  const batch = encodeBatch({ codec, count: 1_000, payload });
  return async () => {
    const reader = new RecordBatchReader(maxBatchBytes);
    const records = allOf(await reader.read(batch, [], { inflatedBytes: 0 }));
    if (records.length !== 1_000) throw new Error(`${records.length} records`);
  };
}

/** One block of 64 KiB of zeros, 4,000 times over: 250 MB in 1 MB. */
function lz4Bomb(): Buffer {
  const frame = compressFrameSync(Buffer.alloc(65_536));
  const blockBytes = 4 + frame.readUInt32LE(7);
  const block = frame.subarray(7, 7 + blockBytes);
  return Buffer.concat([frame.subarray(0, 7), ...new Array(4_000).fill(block), Buffer.alloc(4)]);
}
