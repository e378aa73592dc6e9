import { describe, expect, it } from 'vitest';
import { limits } from '../../src/base/limits.ts';
import { configSchema } from '../../src/config/schema.ts';
import { chunkSettingsOf } from '../../src/ingest/chunk-settings.ts';
import { type ChunkContext, emptyBegin, OpenChunk } from '../../src/ingest/open-chunk.ts';
import { RowBinaryWriter } from '../../src/sink/row-binary/row-binary-writer.ts';

const nowMs = 1_790_000_000_000;

function openChunk(context: Partial<ChunkContext> = {}): OpenChunk {
  const config = configSchema.parse({});
  const own = { config, groupId: 'g', writer: new RowBinaryWriter(), ...context };
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

  it('is full at its share of the rows of all chunks', () => {
    let share = 3;
    const chunk = openChunk({ rowShare: () => share });
    for (let offset = 0; offset < 2; offset++) {
      chunk.add({ offset, timestampMs: 1, value: event(`m${offset}`) });
    }
    expect(chunk.isFull).toBe(false);
    chunk.add({ offset: 2, timestampMs: 1, value: event('m2') });
    expect(chunk.isFull).toBe(true);
    share = 4;
    expect(chunk.isFull).toBe(false);
  });

  it('is full at its share of the bands of all chunks', () => {
    const chunk = openChunk({ rowShare: () => 3 });
    const add = (offset: number) => {
      const value = `{"ts":${nowMs},"model":"m","total_ms":${2 ** offset}}`;
      chunk.add({ offset, timestampMs: 1, value: Buffer.from(value) });
    };
    for (let offset = 0; offset < 11; offset++) add(offset);
    expect(chunk.isFull).toBe(false);
    add(11);
    expect(chunk.isFull).toBe(true);
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
