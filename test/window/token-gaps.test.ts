import { describe, expect, it } from 'vitest';
import { limits } from '../../src/base/limits.ts';
import type { DecoderOptions, EventDecoder } from '../../src/decode/event-decoder.ts';
import { Interner } from '../../src/decode/interner.ts';
import { MessageDecoder } from '../../src/decode/message/message-decoder.ts';
import { RecordDecoder } from '../../src/formats/records/record-decoder.ts';
import { storedQuantiles } from '../../src/sketch/stored-quantiles.ts';
import { mulberry32, SeededRandom } from '../base/seeded-random.ts';
import { worstError } from '../sketch/worst-error.ts';
import { countedStages } from './counted-stages.ts';
import { TestChunk } from './test-chunk.ts';
import type { TimingEventText } from './timing-event-text.ts';

const tsMs = 1_790_000_000_000;
const stage = 'inter_token_latency';

/** Streamed answers: steady gaps, and now and then a stall that the mean of its request hides. */
function answers(count: number, seed: number): TimingEventText[] {
  const random = new SeededRandom(seed, mulberry32);
  return Array.from({ length: count }, () => {
    const paceMs = 18 * Math.exp(0.3 * random.normal());
    const itl_ms = Array.from({ length: random.between(0, 300) }, () => {
      const ms = paceMs * Math.exp(0.15 * random.normal()) + (random.chance(0.002) ? 700 : 0);
      return Math.round(ms * 1000) / 1000;
    });
    const firstMs = random.between(50, 400);
    const total_ms = firstMs + itl_ms.reduce((sum, ms) => sum + ms, 0);
    return {
      ...{ ts: tsMs, model: `llm-${random.between(1, 2)}`, total_ms },
      stages_ms: { first_token: firstMs },
      // Some servers do not send them.
      ...(random.chance(0.9) && { itl_ms }),
    };
  });
}

const countedBy = (open: (options: DecoderOptions) => EventDecoder, events: readonly object[]) => {
  const message = Buffer.from(events.map((event) => JSON.stringify(event)).join('\n'));
  return countedStages(open, [message], tsMs + 100_000);
};

const byJson = (options: DecoderOptions) => new MessageDecoder(options);
const jsonRecords = {
  read(message: Buffer, sink: { record(record: object, start: number, end: number): void }) {
    for (const line of message.toString().split('\n')) sink.record(JSON.parse(line), 0, 1);
  },
};

describe.each<[string, (options: DecoderOptions) => EventDecoder]>([
  ['JSON', byJson],
  ['records', (options) => new RecordDecoder({ ...options, reader: jsonRecords })],
])('gaps of %s', (_, open) => {
  it.each([1, 2, 3])(
    'are a row whose counts are exact, and whose tail is within the bound (seed %i)',
    (seed) => {
      // Of one window: all end within ten seconds of each other.
      const events = answers(600, seed).map((event) => ({
        ...event,
        ts: tsMs + 5_000 - Math.ceil(event.total_ms as number),
      }));
      const { rows } = countedBy(open, events);
      for (const model of ['llm-1', 'llm-2']) {
        const of = rows.filter((row) => row.model === model && row.stage === stage);
        const raw = events.flatMap((event) => (event.model === model ? (event.itl_ms ?? []) : []));
        const sorted = Float64Array.from(raw).sort();
        expect(raw.length).toBeGreaterThan(20_000);
        const sumUs = raw.reduce((sum, ms) => sum + Math.round(ms * 1000), 0);
        const [minMs, maxMs] = [sorted[0], sorted.at(-1)];
        expect(of).toMatchObject([{ requests: raw.length, sumUs, minMs, maxMs }]);
        const quantile = (q: number) => of[0]?.digest.quantile(q) ?? Number.NaN;
        expect(of[0]?.digest.count).toBe(raw.length);
        const worst = worstError(sorted, quantile);
        expect(worst.score).toBeLessThanOrEqual(1);
        expect(worst.stored).toBeLessThanOrEqual(0.006);
        expect(storedQuantiles.every((q) => quantile(q) > 0)).toBe(true);
        // The stalls: 2 in 1,000 gaps. The mean of a request hides them.
        const means = events.flatMap(({ itl_ms = [] }) =>
          itl_ms.length < 100 ? [] : [itl_ms.reduce((sum, ms) => sum + ms, 0) / itl_ms.length],
        );
        expect(quantile(0.999)).toBeGreaterThan(600);
        expect(Math.max(...means)).toBeLessThan(200);
      }
    },
  );
});

const rowsOf = (chunk: TestChunk) =>
  new Map([...chunk.rows()].map(([key, row]) => [key.split('|').at(-1), row]));
const event = { ts: tsMs - 1_000, model: 'llm', total_ms: 1_000, stages_ms: { decode: 900 } };

describe('an event with gaps', () => {
  it.each([1, 7, 8, 32, 33, 65, 66, 67, 132, 133, 1_000])('of %i counts each once', (count) => {
    const itl_ms = Array.from({ length: count }, (_, n) => n + 1);
    const chunk = new TestChunk().begin();
    chunk.add({ ...event, itl_ms }, event);
    expect(rowsOf(chunk).get(stage)).toMatchObject({
      ...{ requests: count, sumUs: 500 * count * (count + 1), minMs: 1, maxMs: count },
      ...{ errors: 0, bands: new Map(), bandsMs: new Map() },
    });
  });

  it('changes no other row, band, driver or slow request', () => {
    const others = { status: 'error', host: 'h', trace_id: 't' } as const;
    const plain = new TestChunk().begin();
    plain.add({ ...event, ...others }, event);
    const chunk = new TestChunk().begin();
    chunk.add({ ...event, ...others, itl_ms: [3, 5] }, event);
    const rows = chunk.rows();
    for (const key of rows.keys()) if (key.endsWith(stage)) rows.delete(key);
    expect(rows).toEqual(plain.rows());
    expect(chunk.accumulator.drivers.size).toBe(plain.accumulator.drivers.size);
    const kept = ({ accumulator }: TestChunk) => [...accumulator.exemplars.all()];
    expect(kept(chunk)).toEqual(kept(plain));
    expect(chunk.accumulator.rowCount).toBe(plain.accumulator.rowCount + 1);
  });

  it.each([2, 64, 65, 10_000])('that stands for %i requests counts its gaps as often', (weight) => {
    const chunk = new TestChunk().begin();
    chunk.add({ ...event, weight, itl_ms: [20, 20, 800] });
    const row = rowsOf(chunk).get(stage);
    expect(row).toMatchObject({ requests: 3 * weight, sumUs: 840_000 * weight, maxMs: 800 });
  });

  it('and no total counts them all the same, and has no total by them', () => {
    const chunk = new TestChunk().begin();
    const partial = { ts: tsMs, model: 'llm', partial: true, stages_ms: { decode: 9 } };
    chunk.add({ ...partial, itl_ms: [4, 5] });
    const rows = rowsOf(chunk);
    expect([...rows.keys()].sort()).toEqual(['decode', stage]);
    expect(rows.get(stage)).toMatchObject({ requests: 2, sumUs: 9_000 });
  });

  it('whose row would be one name too many has none: `__other__` is a stage', () => {
    const chunk = new TestChunk().begin();
    const names = Array.from({ length: limits.stageNames }, (_, n) => `s${n}`);
    for (let i = 0; i < 8; i++) {
      const stages_ms = Object.fromEntries(names.slice(i * 40, i * 40 + 40).map((s) => [s, 1]));
      chunk.add({ ...event, stages_ms });
    }
    const { stages } = chunk.accumulator;
    const other = stages.text(Interner.otherId);
    const before = rowsOf(chunk).get(other);
    chunk.add({ ...event, stages_ms: { s0: 1 }, itl_ms: [1, 2] });
    expect(rowsOf(chunk).get(other)).toEqual(before);
    expect(rowsOf(chunk).has(stage)).toBe(false);
  });

  it('of a chunk that follows another counts by its own names', () => {
    const chunk = new TestChunk();
    chunk.begin().add({ ...event, itl_ms: [1, 2] });
    expect(rowsOf(chunk).get(stage)?.requests).toBe(2);
    chunk.begin().add({ ...event, stages_ms: { a: 1, b: 1, c: 1 } });
    expect(rowsOf(chunk).has(stage)).toBe(false);
    chunk.begin().add({ ...event, stages_ms: { a: 1, b: 1, c: 1 } }, { ...event, itl_ms: [7] });
    expect(rowsOf(chunk).get(stage)).toMatchObject({ requests: 1, sumUs: 7_000 });
    expect(rowsOf(chunk).get('a')).toMatchObject({ requests: 1, sumUs: 1_000 });
  });
});
