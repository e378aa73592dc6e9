import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { configSchema } from '../../../src/config/schema.ts';
import { Random } from '../../../src/generate/random.ts';
import { messageOf, type RecordedEvent, recordedEvents } from './recorded-events.ts';
import { replayEvents } from './replay-events.ts';
import { seenAround } from './seen-around.ts';
import { shuffledEvents } from './shuffled-events.ts';

const startMs = Date.UTC(2026, 0, 1);
const everyMs = 1_000;
/** Six hours, a request a second; from the fifth hour on forward is four times as slow. */
const events = Array.from({ length: 6 * 3_600 }, (_, i): RecordedEvent => {
  const noise = new Random('noise').split(`${i}`).lognormal(1, 0.2);
  return {
    tsMs: startMs + i * everyMs,
    rest: { model: i % 2 === 0 ? 'a' : 'b' },
    ms: { forward: noise * (i < 4 * 3_600 ? 50 : 200), queue: 5 * noise },
  };
});
const config = configSchema.parse({});
const countsOf = (values: readonly string[]) =>
  [...values].sort().reduce((text, value) => `${text} ${value}`, '');
const shuffled = (shuffle: 'durations' | 'blocks') => [
  ...shuffledEvents(events, shuffle, 2, new Random('shuffled')),
];

describe('a recording', () => {
  it('is read and written as it is, in order of time', () => {
    const directory = mkdtempSync(join(tmpdir(), 'real-'));
    const lines = [
      '{"ts":2,"model":"a","partial":true,"stages_ms":{"queue":1}}',
      '{"ts":1,"model":"a","status":"ok","total_ms":7}',
    ];
    const path = join(directory, 'a.ndjson.gz');
    writeFileSync(path, gzipSync(`${lines.join('\n')}\n`));
    expect(recordedEvents(path).map(messageOf)).toEqual([lines[1], lines[0]]);
    rmSync(directory, { recursive: true });
  });

  it('pages where it changes, which the requests confirm', () => {
    const { pages, events: counted, series, seriesWeeks } = replayEvents(events, config);
    expect([counted, series]).toEqual([events.length, 2]);
    // All but the windows that make the first baseline, and the quarantine.
    expect(seriesWeeks).toBeCloseTo((2 * 6 * 3_600 - 2 * 260) / (7 * 86_400), 3);
    expect(pages.map(({ opened }) => opened.model).sort()).toEqual(['a', 'b']);
    for (const { opened } of pages) {
      const { before, during } = seenAround(events, opened);
      expect(during.ms / before.ms).toBeGreaterThan(3);
    }
  });
});

describe('a shuffled recording', () => {
  it('has the same times and, for each model, the same durations', () => {
    const once = shuffled('durations').slice(0, events.length);
    expect(once.map(({ tsMs, rest }) => [tsMs, rest])).toEqual(
      events.map(({ tsMs, rest }) => [tsMs, rest]),
    );
    const of = (list: readonly RecordedEvent[]) =>
      countsOf(list.map(({ rest, ms }) => `${rest.model} ${ms.forward} ${ms.queue}`));
    expect(of(once)).toBe(of(events));
    expect(once).not.toEqual(events);
  });

  it('has the same blocks of ten minutes in another order', () => {
    const once = shuffled('blocks').slice(0, events.length);
    const blocksOf = (list: readonly RecordedEvent[]) =>
      countsOf(
        Array.from({ length: 36 }, (_, i) =>
          JSON.stringify(list.slice(i * 600, i * 600 + 600).map(({ ms }) => ms)),
        ),
      );
    expect(blocksOf(once)).toBe(blocksOf(events));
    expect(once.map(({ tsMs }) => tsMs)).toEqual(events.map(({ tsMs }) => tsMs));
    expect(once).not.toEqual(events);
  });

  it('continues a day later, in another order', () => {
    const twice = shuffled('durations');
    const [first, second] = [twice.slice(0, events.length), twice.slice(events.length)];
    expect(second.map(({ tsMs }) => tsMs - 86_400_000)).toEqual(first.map(({ tsMs }) => tsMs));
    expect(second.map(({ ms }) => ms)).not.toEqual(first.map(({ ms }) => ms));
  });

  it('pages nothing: it contains no change', () => {
    const once = shuffled('durations').slice(0, events.length);
    expect(replayEvents(once, config).pages).toEqual([]);
  });
});
