import { describe, expect, it } from 'vitest';
import { limits } from '../../src/base/limits.ts';
import { dayMs } from '../../src/base/time.ts';
import { configSchema } from '../../src/config/schema.ts';
import { chunkSettingsOf } from '../../src/ingest/chunk/chunk-settings.ts';
import { emptyBegin, OpenChunk } from '../../src/ingest/chunk/open-chunk.ts';
import { ChunkBlock } from '../../src/sink/chunks/chunk-block.ts';
import { SeededRandom } from '../base/seeded-random.ts';
import { type DecodedRow, decodeRows } from '../sink/decoded-row.ts';

const nowMs = 1_790_000_000_000;

/** A chunk with the given settings, its rows, and the reasons of its rejections. */
function chunkOf(messages: readonly string[], settings: Record<string, unknown> = {}) {
  const config = configSchema.parse({ limits: settings });
  const context = { config, groupId: 'g', block: new ChunkBlock() };
  const open = new OpenChunk(context, chunkSettingsOf(config), 't', 0);
  open.begin({ ...emptyBegin, watermarkMs: nowMs - 1_000 }, nowMs);
  messages.forEach((text, offset) => {
    open.add({ offset, timestampMs: nowMs, value: Buffer.from(text) });
  });
  const isFull = open.isFull;
  const { chunk, letters } = open.seal(nowMs);
  const rows = decodeRows(chunk.rows.bytes).filter(({ kind }) => kind === 1);
  return { chunk, rows, isFull, reasons: letters.map(({ reason }) => reason) };
}

const event = (fields: Record<string, unknown>) =>
  JSON.stringify({ ts: nowMs - 500, model: 'honest', total_ms: 5, ...fields });

/** Rows of honest keys. */
const honest = (rows: readonly DecodedRow[]) =>
  rows
    .filter(({ model }) => model.startsWith('honest'))
    .map(({ latency: _, chunk_mark: __, bands, bands_ms, stages_ms, ...row }) => ({
      ...row,
      bands: [...bands],
      bands_ms: [...bands_ms],
      stages_ms: [...stages_ms],
    }))
    .sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));

describe('one hostile producer', () => {
  const random = new SeededRandom(7);
  const good = Array.from({ length: 2_000 }, (_, n) =>
    event({
      ts: nowMs - random.between(0, 120_000),
      model: `honest-${n % 7}`,
      total_ms: undefined,
      stages_ms: { queue: random.between(1, 50), forward: random.between(10, 900) },
    }),
  );
  const attacks: readonly (readonly [string, (n: number) => string])[] = [
    ['whose clock is 4 minutes ahead', () => event({ model: 'evil', ts: nowMs + 240_000 })],
    ['whose clock is 20 hours behind', (n) => event({ model: 'evil', ts: nowMs - 72_000_000 - n })],
    ['in the year 2099', () => event({ model: 'evil', ts: Date.UTC(2099, 5) })],
    ['in the year 2100 and later', () => event({ model: 'evil', ts: Date.UTC(2100, 5) })],
    ['of another key each time', (n) => event({ model: `evil-${n}`, host: `h-${n}` })],
    ['of another stage each time', (n) => event({ model: 'evil', stages_ms: { [`s${n}`]: 1 } })],
    [
      'of another window each time',
      (n) => event({ model: 'evil', ts: nowMs - dayMs / 2 + n * 10_000 }),
    ],
    ['of garbage', (n) => (n % 2 === 0 ? '{"ts":' : '\u0000'.repeat(n % 50))],
  ];

  it.each(attacks)('%s leaves the rows of honest keys as they are', (_, attack) => {
    const alone = honest(chunkOf(good).rows);
    expect(alone.length).toBeGreaterThan(200);
    // A hostile event precedes every honest one.
    const mixed = good.flatMap((text, n) => [attack(n), text]);
    expect(honest(chunkOf(mixed).rows)).toEqual(alone);
  });

  it('that fills a chunk sends later keys to __other__: no event is lost', () => {
    const flood = Array.from({ length: 300 }, (_, n) => event({ model: `evil-${n}` }));
    const before = good.slice(0, 100);
    const after = good.slice(100).map((text) => text.replace('honest-', 'honest-later-'));
    const { chunk, rows } = chunkOf([...before, ...flood, ...after], { max_series: 300 });
    expect(honest(rows.filter(({ model }) => !model.includes('later')))).toEqual(
      honest(chunkOf(before).rows),
    );
    expect(rows.some(({ model }) => model.includes('later'))).toBe(false);
    expect(chunk.aggregated + chunk.overflow).toBe(2_300);
    const totals = rows.filter(({ stage }) => stage === 'total');
    expect(totals.reduce((sum, { requests }) => sum + requests, 0)).toBe(2_300);
    const other = totals.filter(({ model }) => model === '__other__');
    expect(other.reduce((sum, { requests }) => sum + requests, 0)).toBe(chunk.overflow);
  });
});

describe('a million keys in small: 30,000 models and hosts', () => {
  it('are counted to the last, in their own series or in __other__', () => {
    const events = 30_000;
    const messages = Array.from({ length: events }, (_, n) =>
      event({ model: `m${n}`, host: `h${n}`, ts: nowMs - (n % 3) * 10_000, total_ms: n % 1000 }),
    );
    const { chunk, rows } = chunkOf(messages, { max_series: 5_000 });
    expect(chunk).toMatchObject({ consumed: events, aggregated: 5_000, overflow: 25_000 });
    expect(rows.reduce((sum, { requests }) => sum + requests, 0)).toBe(events);
    const sumMs = messages.reduce((sum, _, n) => sum + (n % 1000), 0);
    expect(rows.reduce((sum, { sum_ms }) => sum + sum_ms, 0)).toBe(sumMs);
    // One series of others a window.
    expect(rows.filter(({ model }) => model === '__other__')).toHaveLength(3);
    expect(rows).toHaveLength(5_003);
  });
});

describe('one message', () => {
  const stages = Object.fromEntries(Array.from({ length: 64 }, (_, i) => [`s${i}`, 1]));

  it('of millions of rows is kept apart up to the limit; every total and gap is counted', () => {
    const events = 5_000;
    const lines = Array.from({ length: events }, (_, n) =>
      event({ model: `m${n}`, total_ms: 64, stages_ms: stages, itl_ms: [1, 2] }),
    );
    const { chunk, rows } = chunkOf([lines.join('\n')]);
    expect(chunk).toMatchObject({ consumed: events, rejected: 0, late: 0 });
    expect(chunk.overflow).toBeGreaterThan(0);
    expect(rows.length).toBeLessThanOrEqual(limits.rowsPerChunk + 200);
    expect(rows.length).toBeGreaterThanOrEqual(limits.rowsPerChunk);
    const requestsOf = (is: (stage: string) => boolean) =>
      rows.filter(({ stage }) => is(stage)).reduce((sum, { requests }) => sum + requests, 0);
    expect(requestsOf((stage) => stage === 'total')).toBe(events);
    // Gaps are no part of the total, and never among other stages.
    expect(requestsOf((stage) => stage === 'inter_token_latency')).toBe(events * 2);
    expect(requestsOf((stage) => stage !== 'total')).toBe(events * (64 + 2));
  });

  it('of more windows than a chunk holds has the rest rejected', () => {
    const extra = 50;
    const startMs = nowMs - 500 - (limits.windowsPerChunk + extra) * 10_000;
    const lines = Array.from({ length: limits.windowsPerChunk + extra }, (_, n) =>
      event({ ts: startMs + n * 10_000 }),
    );
    const config = configSchema.parse({ windows: { allowed_lateness: '30d' } });
    const context = { config, groupId: 'g', block: new ChunkBlock() };
    const open = new OpenChunk(context, chunkSettingsOf(config), 't', 0);
    open.begin(emptyBegin, nowMs);
    open.add({ offset: 0, timestampMs: 0, value: Buffer.from(lines.join('\n')) });
    expect(open.isFull).toBe(true);
    const { chunk, letters } = open.seal(nowMs);
    expect(chunk).toMatchObject({ aggregated: limits.windowsPerChunk, rejected: extra });
    expect(letters.map(({ reason }) => reason)).toEqual(new Array(extra).fill('too_many_windows'));
    // Rejected events have not moved the watermark.
    expect(chunk.watermarkMs).toBe(startMs + (limits.windowsPerChunk - 1) * 10_000 + 5);
  });
});
