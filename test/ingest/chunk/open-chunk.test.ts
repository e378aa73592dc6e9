// Covers src/ingest/chunk/open-memory.ts.

import { describe, expect, it } from 'vitest';
import { limits } from '../../../src/base/limits.ts';
import { configSchema } from '../../../src/config/schema.ts';
import { chunkSettingsOf } from '../../../src/ingest/chunk/chunk-settings.ts';
import { type ChunkContext, emptyBegin, OpenChunk } from '../../../src/ingest/chunk/open-chunk.ts';
import { OpenMemory } from '../../../src/ingest/chunk/open-memory.ts';
import { ChunkBlock } from '../../../src/sink/chunks/chunk-block.ts';

const nowMs = 1_790_000_000_000;

function openChunk(context: Partial<ChunkContext> = {}): OpenChunk {
  const { config = configSchema.parse({}) } = context;
  const own = { config, groupId: 'g', block: new ChunkBlock(), ...context };
  const chunk = new OpenChunk(own, chunkSettingsOf(config), 't', 0);
  chunk.begin(emptyBegin, nowMs);
  return chunk;
}
const event = (model: string, more = '') =>
  Buffer.from(`{"ts":${nowMs},"model":"${model}","total_ms":1${more}}`);

describe('an open chunk', () => {
  it('counts a refused record of its source as one rejected event', () => {
    const chunk = openChunk();
    const refused = { reason: 'undecodable_batch', detail: 'why', originalBytes: 77 } as const;
    const cut = { reason: 'message_too_large', detail: 'long', originalBytes: 99 } as const;
    chunk.add({ offset: 5, timestampMs: 1, value: null, refused });
    chunk.add({ offset: 6, timestampMs: 2, value: Buffer.from('{"ts"'), refused: cut });
    chunk.add({ offset: 7, timestampMs: 3, value: event('m') });
    const { chunk: sealed, letters } = chunk.seal(nowMs);
    expect(sealed).toMatchObject({ records: 3, consumed: 3, aggregated: 1, rejected: 2 });
    const origin = { topic: 't', partition: 0, logId: '', index: 0 };
    expect(letters).toEqual([
      { ...origin, offset: 5, bytes: null, ...refused },
      { ...origin, offset: 6, bytes: Buffer.from('{"ts"'), ...cut },
    ]);
  });

  it('counts an event of which optional texts are too long, and the texts by field', () => {
    const chunk = openChunk();
    const long = `,"request_type":"${'x'.repeat(257)}","id":"${'y'.repeat(257)}"`;
    chunk.add({ offset: 0, timestampMs: 1, value: event('m', long) });
    chunk.add({ offset: 1, timestampMs: 2, value: event('m') });
    const { chunk: sealed, letters, longTexts } = chunk.seal(nowMs);
    expect(sealed).toMatchObject({ consumed: 2, aggregated: 2, rejected: 0, overflow: 0 });
    expect(letters).toEqual([]);
    expect(longTexts.list()).toEqual([
      { field: 'request_type', count: 1 },
      { field: 'id', count: 1 },
    ]);
    chunk.begin(emptyBegin, nowMs);
    expect(chunk.seal(nowMs).longTexts.list()).toEqual([]);
  });

  it('says in letters how far an event is ahead of which clock, or behind which time', () => {
    const windows = { max_future: '1m', allowed_lateness: '1h' };
    const chunk = openChunk({ config: configSchema.parse({ windows }) });
    const endAt = (ms: number) =>
      Buffer.from(JSON.stringify({ ts: nowMs + ms - 500, model: 'm', total_ms: 500 }));
    const values = [endAt(-2_000), endAt(60_001), endAt(-3_602_001)];
    for (const [offset, value] of values.entries()) chunk.add({ offset, timestampMs: 1, value });
    const { letters } = chunk.seal(nowMs);
    expect(letters.map(({ offset, reason, detail }) => [offset, reason, detail])).toEqual([
      [
        1,
        'future',
        'ts plus the duration is 60.001 s ahead of the clock of the ingesting process ' +
          '(windows.max_future: 60 s): 2026-09-21T14:14:20.001Z',
      ],
      [
        2,
        'late',
        'ts plus the duration is 3600.001 s behind the watermark of the partition ' +
          '(windows.allowed_lateness: 3600 s)',
      ],
    ]);
  });

  it('is full at its rows', () => {
    const chunk = openChunk({ config: configSchema.parse({ ingest: { flush_max_rows: 100 } }) });
    for (let offset = 0; offset < 99; offset++) {
      chunk.add({ offset, timestampMs: 1, value: event(`m${offset}`) });
    }
    expect(chunk.isFull).toBe(false);
    chunk.add({ offset: 99, timestampMs: 1, value: event('m99') });
    expect(chunk.isFull).toBe(true);
  });

  it('is full where the memory of all is used up, and its equal share of it', () => {
    const mostBytes = 2 * 1024 * 1024;
    const memory = new OpenMemory(mostBytes);
    const [busy, quiet] = [openChunk({ memory }), openChunk({ memory })];
    let offset = 0;
    const fill = (chunk: OpenChunk) =>
      chunk.add({ offset, timestampMs: 1, value: event(`m${offset++}`) });
    while (!busy.isFull) fill(busy);
    // One event of a new series takes a block, a page, a vector and a slot, 384 bytes.
    expect(offset).toBeGreaterThan(mostBytes / 384 - 400);
    expect(offset).toBeLessThan(mostBytes / 384 + 400);
    expect(quiet.isFull).toBe(false);
    const before = offset;
    while (!quiet.isFull) fill(quiet);
    expect((offset - before) / before).toBeCloseTo(0.5, 1);
    busy.seal(nowMs);
    busy.begin(emptyBegin, nowMs);
    expect([busy.isFull, quiet.isFull]).toEqual([false, false]);
  });

  it('leaves its memory to the others once it is closed', () => {
    const memory = new OpenMemory(1024 * 1024);
    const [gone, here] = [openChunk({ memory }), openChunk({ memory })];
    let offset = 0;
    const fill = (chunk: OpenChunk) =>
      chunk.add({ offset, timestampMs: 1, value: event(`m${offset++}`) });
    while (!gone.isFull) fill(gone);
    gone.close();
    for (let i = 0; i < 2_000; i++) fill(here);
    expect(here.isFull).toBe(false);
    // Its records may still be on their way.
    fill(gone);
    gone.close();
    expect(here.isFull).toBe(false);
  });

  it.each([
    [-1, 0],
    [Number.MAX_SAFE_INTEGER, 9_999_999_999_999],
    [12_345, 12_345],
  ])('records a timestamp of %i as %i', (timestampMs, noted) => {
    const chunk = openChunk();
    chunk.add({ offset: 0, timestampMs, value: event('m') });
    const { chunk: sealed } = chunk.seal(nowMs);
    expect([sealed.firstTimestampMs, sealed.lastTimestampMs]).toEqual([noted, noted]);
  });

  it('records the timestamp of the first record, and the latest of all', () => {
    const chunk = openChunk();
    for (const [offset, timestampMs] of [70, 90, -1, 50].entries()) {
      chunk.add({ offset, timestampMs, value: event('m') });
    }
    const { chunk: sealed } = chunk.seal(nowMs);
    expect([sealed.firstTimestampMs, sealed.lastTimestampMs]).toEqual([70, 90]);
  });

  it('accepts a long plain event, and rejects one as long that needs JSON.parse', () => {
    const chunk = openChunk();
    const filler = 'x'.repeat(limits.eventBytes);
    chunk.add({ offset: 0, timestampMs: 1, value: event('m', `,"x":"${filler}"`) });
    chunk.add({ offset: 1, timestampMs: 1, value: event('\\u006d', `,"x":"${filler}"`) });
    const { chunk: sealed, letters } = chunk.seal(nowMs);
    expect(sealed).toMatchObject({ consumed: 2, aggregated: 1, rejected: 1 });
    expect(letters.map(({ offset, reason }) => [offset, reason])).toEqual([
      [1, 'message_too_large'],
    ]);
  });
});
