import { dayMs } from '../../../src/base/time.ts';
import type { Random } from '../../../src/generate/random.ts';
import type { RecordedEvent } from './recorded-events.ts';

const blockMs = 600_000;

/** Shuffled unit, so that the recording contains no change. */
export type Shuffle = 'durations' | 'blocks';

/**
 * Repeats a recording, each time in another order, a whole number of days apart. `durations`: events keep
 * their times, and each gets the durations of another one of the same model, type and stage. So arrivals and
 * distributions are real, and nothing changes. `blocks`: pieces of ten minutes are put in another order. So
 * bursts within them are real, with jumps between them.
 */
export function* shuffledEvents(
  events: readonly RecordedEvent[],
  shuffle: Shuffle,
  times: number,
  random: Random,
): Generator<RecordedEvent> {
  const firstMs = events[0]?.tsMs ?? 0;
  const lastMs = events.at(-1)?.tsMs ?? 0;
  const periodMs = (Math.floor((lastMs - firstMs) / dayMs) + 1) * dayMs;
  for (let time = 0; time < times; time++) {
    const once = random.split(`${shuffle} ${time}`);
    const shuffled = shuffle === 'blocks' ? inBlocks(events, once) : withDurations(events, once);
    for (const event of shuffled) yield { ...event, tsMs: event.tsMs + time * periodMs };
  }
}

function withDurations(events: readonly RecordedEvent[], random: Random): RecordedEvent[] {
  const alike = new Map<string, number[]>();
  events.forEach(({ rest, ms }, i) => {
    const { model, version, request_type, region } = rest;
    const key = JSON.stringify([model, version, request_type, region, Object.keys(ms)]);
    const places = alike.get(key) ?? [];
    alike.set(key, places);
    places.push(i);
  });
  const shuffled = [...events];
  for (const places of alike.values()) {
    const from = permuted(places, random);
    places.forEach((place, i) => {
      const { tsMs, rest } = events[place] as RecordedEvent;
      shuffled[place] = { tsMs, rest, ms: (events[from[i] as number] as RecordedEvent).ms };
    });
  }
  return shuffled;
}

function inBlocks(events: readonly RecordedEvent[], random: Random): RecordedEvent[] {
  const firstMs = Math.floor((events[0]?.tsMs ?? 0) / blockMs) * blockMs;
  const blocks: RecordedEvent[][] = [];
  for (const event of events) {
    const block = Math.floor((event.tsMs - firstMs) / blockMs);
    while (blocks.length <= block) blocks.push([]);
    blocks[block]?.push(event);
  }
  const order = permuted(
    blocks.map((_, i) => i),
    random,
  );
  return order.flatMap((block, to) =>
    (blocks[block] ?? []).map((event) => ({
      ...event,
      tsMs: event.tsMs + (to - block) * blockMs,
    })),
  );
}

/** Fisher and Yates. */
function permuted(values: readonly number[], random: Random): number[] {
  const result = [...values];
  for (let i = result.length - 1; i > 0; i--) {
    const j = Math.floor(random.uniform() * (i + 1));
    [result[i], result[j]] = [result[j] as number, result[i] as number];
  }
  return result;
}
