// Covers src/source/event-text.ts and src/source/record.ts.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import { limits } from '../../src/base/limits.ts';
import { OperatorError } from '../../src/base/operator-error.ts';
import { FileSource } from '../../src/source/file-source.ts';
import type { RecordBatch } from '../../src/source/record.ts';
import { type Claim, ClaimLostError, type SourceHandler } from '../../src/source/source.ts';
import { allOf, type CopiedRecord } from '../kafka/record-batch.ts';

const folder = mkdtempSync(join(tmpdir(), 'tailmark-file-source-'));
const startedMs = Date.parse('2026-11-21T10:00:00.000Z');
const maxLineBytes = 16 << 20;
afterAll(() => rmSync(folder, { recursive: true }));

function fileOf(name: string, content: string | Buffer): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

/** Keeps what it is given. */
class Reader implements SourceHandler {
  readonly batches: (Omit<RecordBatch, 'records'> & { records: CopiedRecord[] })[] = [];
  claim: Claim | undefined;
  onEach: () => void = () => undefined;

  async onClaimed() {
    return { offset: 0, knownTo: 0, leaderEpoch: -1 };
  }

  async onBatch(claim: Claim, batch: RecordBatch): Promise<void> {
    this.claim = claim;
    this.batches.push({ ...batch, records: allOf(batch.records) });
    this.onEach();
  }

  onLost(): void {}

  get lines(): (string | undefined)[] {
    return this.batches.flatMap(({ records }) => records.map((record) => record.value?.toString()));
  }
}

async function linesOf(
  path: string | undefined,
  stdin = Readable.from([]),
  mostBytes = maxLineBytes,
) {
  const source = new FileSource({ path, stdin, startedMs, maxLineBytes: mostBytes });
  const reader = new Reader();
  await source.start(reader);
  await source.done;
  return reader;
}

describe('the lines of a file', () => {
  it.each([
    ['with an end each', 'a\nb\n', ['a', 'b']],
    ['without a last end', 'a\nb', ['a', 'b']],
    ['of Windows', 'a\r\nb\r\n', ['a', 'b']],
    ['of Windows without a last end', 'a\r\nb\r', ['a', 'b']],
    ['that are empty', '\n\na\n\r\n\nb\n\n', ['a', 'b']],
    ['that are not there', '', []],
    ['of more than ASCII', 'größe\n模型', ['größe', '模型']],
  ])('%s are records', async (name, content, lines) => {
    const reader = await linesOf(fileOf(`${name}.ndjson`, content));
    expect(reader.lines).toEqual(lines);
    const zipped = await linesOf(fileOf(`${name}.ndjson.gz`, gzipSync(content)));
    expect(zipped.lines).toEqual(lines);
  });

  it.each([
    ['plain, in a file named .gz', 'a.gz', Buffer.from('a\nb\n')],
    ['gzip, in a file named otherwise', 'zipped.ndjson', gzipSync('a\nb\n')],
    ['gzip of several members', 'members.gz', Buffer.concat([gzipSync('a\n'), gzipSync('b\n')])],
    ['gzip with zeros behind', 'zeros.gz', Buffer.concat([gzipSync('a\nb'), Buffer.alloc(512)])],
    ['with a byte order mark', 'marked.ndjson', Buffer.from('\uFEFFa\r\nb\r\n')],
    ['with a byte order mark in gzip', 'marked.gz', gzipSync('\uFEFFa\r\nb\r\n')],
  ])('are known by their bytes: %s', async (_, name, content) => {
    expect((await linesOf(fileOf(name, content))).lines).toEqual(['a', 'b']);
    const pieces = Array.from(content, (byte) => Buffer.of(byte));
    expect((await linesOf(undefined, Readable.from(pieces))).lines).toEqual(['a', 'b']);
  });

  it('are whole however long they are', async () => {
    const long = 'x'.repeat(3_500_000);
    const lines = ['first', long, 'between', `${long}y`, 'last'];
    const path = fileOf('long.ndjson', lines.join('\n'));
    expect((await linesOf(path)).lines).toEqual(lines);
    const zipped = fileOf('long.ndjson.gz', gzipSync(lines.join('\r\n')));
    expect((await linesOf(zipped)).lines).toEqual(lines);
  });

  it('come in batches of consecutive offsets, all of the time the run began', async () => {
    const lines = Array.from({ length: 10_000 }, (_, i) => `line ${i}`);
    const { batches, claim } = await linesOf(fileOf('many.ndjson', lines.join('\n')));
    expect(claim).toMatchObject({ topic: 'many.ndjson', partition: 0 });
    expect(batches.map(({ fetchOffset, nextOffset }) => [fetchOffset, nextOffset])).toEqual([
      [0, 4_096],
      [4_096, 8_192],
      [8_192, 10_000],
    ]);
    const records = batches.flatMap((batch) => batch.records);
    expect(records.map(({ offset }) => offset)).toEqual(lines.map((_, i) => i));
    expect(records.map(({ value }) => value?.toString())).toEqual(lines);
    expect(new Set(records.map(({ timestampMs }) => timestampMs))).toEqual(new Set([startedMs]));
  });
});

describe('a file read twice', () => {
  it('is two imports: each run is a group of its own', () => {
    const groupOf = (startedAtMs: number) =>
      new FileSource({
        ...{ path: 'x', stdin: Readable.from([]) },
        startedMs: startedAtMs,
        maxLineBytes,
      }).groupId;
    expect(groupOf(startedMs)).toBe('file/2026-11-21T10:00:00.000Z');
    expect(groupOf(startedMs + 1)).not.toBe(groupOf(startedMs));
  });
});

describe('standard input', () => {
  it('is read in whatever pieces it comes', async () => {
    const pieces = ['{"a"', ':1}\n{"b":2', '}\r', '\n', 'ö'].map((text) => Buffer.from(text));
    const reader = await linesOf(undefined, Readable.from(pieces));
    expect(reader.lines).toEqual(['{"a":1}', '{"b":2}', 'ö']);
    expect(reader.claim?.topic).toBe('stdin');
  });

  it('is delivered while its writer pauses, each line once', async () => {
    const stdin = new Readable({ read: () => undefined });
    const source = new FileSource({ path: undefined, stdin, startedMs, maxLineBytes });
    const reader = new Reader();
    const delivered = () => new Promise<void>((resolve) => (reader.onEach = resolve));
    await source.start(reader);
    for (const text of ['a\nb\nc', 'd\n', 'e\nf\n']) {
      const batch = delivered();
      stdin.push(text);
      await batch;
    }
    stdin.push(null);
    await source.done;
    expect(reader.batches.map(({ fetchOffset, nextOffset }) => [fetchOffset, nextOffset])).toEqual([
      [0, 2],
      [2, 3],
      [3, 5],
    ]);
    expect(reader.lines).toEqual(['a', 'b', 'cd', 'e', 'f']);
  });

  it('of a writer that never pauses is delivered before a batch is full', async () => {
    const stdin = new Readable({ read: () => undefined });
    const source = new FileSource({ path: undefined, stdin, startedMs, maxLineBytes });
    const reader = new Reader();
    const writer = setInterval(() => stdin.push('a\n'), 5);
    const delivered = new Promise<void>((resolve) => (reader.onEach = resolve));
    await source.start(reader);
    await delivered;
    clearInterval(writer);
    expect(reader.lines.length).toBeLessThan(4_096);
    expect(new Set(reader.lines)).toEqual(new Set(['a']));
  });

  it('may be a stream of texts', async () => {
    expect((await linesOf(undefined, Readable.from(['a\nö', 'b\n']))).lines).toEqual(['a', 'öb']);
  });
});

describe('a file that cannot be read', () => {
  const unreadable = { code: 'TAILMARK_FILE_UNREADABLE', exitCode: 64 };

  it('is reported before anything begins where it is missing', async () => {
    const path = join(folder, 'missing.ndjson');
    const source = new FileSource({ path, stdin: Readable.from([]), startedMs, maxLineBytes });
    const error = await source.start(new Reader()).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(OperatorError);
    expect(error).toMatchObject(unreadable);
    expect(String(error)).toContain(path);
  });

  it.each([
    ['a folder', ''],
    ['UTF-16', 'utf-16.ndjson'],
    ['UTF-16 without a mark', 'utf-16-bare.ndjson'],
    ['gzip of UTF-16', 'utf-16.gz'],
    ['an array over several lines', 'array.json'],
    ['objects over several lines', 'objects.json'],
  ])('is reported at the end where it is %s', async (_, name) => {
    const event = { ts: 1_790_000_000_000, model: 'm', total_ms: 5 };
    const utf16 = Buffer.from(`\uFEFF${JSON.stringify(event)}\r\n`, 'utf16le');
    fileOf('utf-16.ndjson', utf16);
    fileOf('utf-16-bare.ndjson', utf16.subarray(2));
    fileOf('utf-16.gz', gzipSync(utf16));
    fileOf('array.json', `[\n${JSON.stringify(event)},\n${JSON.stringify(event)}\n]\n`);
    fileOf('objects.json', JSON.stringify(event, undefined, 2).repeat(2));
    await expect(linesOf(join(folder, name))).rejects.toMatchObject(unreadable);
  });

  it.each([
    ['cut short', (zipped: Buffer) => zipped.subarray(0, zipped.length - 12)],
    ['damaged', (zipped: Buffer) => Buffer.concat([zipped.subarray(0, 30), zipped])],
  ])('is not the fault of the command line where its gzip is %s', async (_, broken) => {
    const path = fileOf('broken.gz', broken(gzipSync('a line\n'.repeat(1_000))));
    await expect(linesOf(path)).rejects.toMatchObject({
      code: 'TAILMARK_FILE_UNREADABLE',
      exitCode: 1,
      hint: 'Copy the file again; gzip -t checks it.',
    });
  });

  it('is not to blame for what its reader throws', async () => {
    const source = new FileSource({
      maxLineBytes,
      path: fileOf('good', 'a'),
      stdin: Readable.from([]),
      startedMs,
    });
    const bug = new Error('BUG: no such row');
    const reader = new Reader();
    reader.onEach = () => {
      throw bug;
    };
    await source.start(reader);
    await expect(source.done).rejects.toBe(bug);
  });
});

describe('a source that must be quiet', () => {
  it('hands out no further batch, and its claim still commits', async () => {
    const lines = Array.from({ length: 20_000 }, (_, i) => `${i}\n`).join('');
    const source = new FileSource({
      maxLineBytes,
      path: fileOf('quiet.ndjson', lines),
      stdin: Readable.from([]),
      startedMs,
    });
    const reader = new Reader();
    reader.onEach = () => source.quiesce();
    await source.start(reader);
    await source.done;
    expect(reader.batches).toHaveLength(1);
    await reader.claim?.commit(4_096, '');
    await source.stop();
    expect(reader.claim?.isLost).toBe(true);
    await expect(reader.claim?.commit(4_096, '')).rejects.toThrow(ClaimLostError);
  });

  it('does not hand out a last batch that is not full', async () => {
    const stdin = new Readable({ read: () => undefined });
    const source = new FileSource({ path: undefined, stdin, startedMs, maxLineBytes });
    const reader = new Reader();
    await source.start(reader);
    stdin.push('a\nb\n');
    source.quiesce();
    stdin.push(null);
    await source.done;
    expect(reader.batches).toEqual([]);
  });
});

describe('a line that is too long', () => {
  const maxLineBytes = 100_000;
  const fits = 'f'.repeat(maxLineBytes);
  /** What became of each line: its text, or what its dead letter will say. */
  const fates = (reader: Reader) =>
    reader.batches.flatMap(({ records }) =>
      records.map(({ offset, value, refused }) => [
        offset,
        refused === undefined ? value?.toString() : `${refused.reason} ${refused.originalBytes}`,
        refused === undefined ? undefined : value?.length,
      ]),
    );
  const long = (bytes: number) => [`message_too_large ${bytes}`, limits.deadLetterBytes];

  it.each([1 << 20, 1_000, 7])(
    'is one rejected record, cut as a dead letter is: parts of %i',
    async (size) => {
      const text = `a\n${fits}\r\n${fits}x\r\nb\n${fits}${fits}${fits}\nc\n${fits}xy`;
      const bytes = Buffer.from(text);
      const parts = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
        bytes.subarray(i * size, (i + 1) * size),
      );
      expect(fates(await linesOf(undefined, Readable.from(parts), maxLineBytes))).toEqual([
        [0, 'a', undefined],
        [1, fits, undefined],
        [2, ...long(maxLineBytes + 1)],
        [3, 'b', undefined],
        [4, ...long(3 * maxLineBytes)],
        [5, 'c', undefined],
        [6, ...long(maxLineBytes + 2)],
      ]);
    },
  );

  it('takes no memory: neither of standard input without end, nor of a gzip bomb', async () => {
    const noLineEnd = Buffer.alloc(1 << 20, 'x');
    const million = 300;
    const endless = Readable.from(
      (function* () {
        for (let i = 0; i < million; i++) yield Buffer.from(noLineEnd);
      })(),
    );
    const bomb = fileOf('bomb.gz', gzipSync(Buffer.alloc(million << 20, 'x')));
    for (const [path, stdin] of [
      [undefined, endless],
      [bomb, Readable.from([])],
    ] as const) {
      let held = 0;
      const timer = setInterval(() => {
        held = Math.max(held, process.memoryUsage().arrayBuffers);
      }, 5);
      const before = process.memoryUsage().arrayBuffers;
      const reader = await linesOf(path, stdin, 16 << 20);
      clearInterval(timer);
      expect(fates(reader)).toEqual([[0, ...long(million << 20)]]);
      expect(held - before).toBeLessThan(128 << 20);
    }
  });
});
