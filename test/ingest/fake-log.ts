import type { SourceRecord } from '../../src/source/record.ts';
import type { SeededRandom } from '../base/seeded-random.ts';
import { randomEvents } from '../window/random-events.ts';
import type { TimingEventText } from '../window/timing-event-text.ts';

/** A partition's records, and the expected result. */
export interface FakeLog {
  readonly records: readonly SourceRecord[];
  readonly endOffset: number;
  /** Events that decode, in order: good, late and future ones. */
  readonly events: readonly TimingEventText[];
  /** Events and messages that do not decode. */
  readonly garbageCount: number;
  /** Every event and message that must not be counted, as `offset/index`. */
  readonly lettersDue: ReadonlySet<string>;
}

export const logStartMs = 1_790_000_000_000;
/** The clock when the first process starts: all events but the future ones are before it. */
export const logNowMs = logStartMs + 3_600_000;

/** Messages of one to three events, some garbage, late or of the future, with gaps between. */
export function fakeLog(random: SeededRandom, recordCount: number): FakeLog {
  const records: SourceRecord[] = [];
  const events: TimingEventText[] = [];
  const lettersDue = new Set<string>();
  let garbageCount = 0;
  let offset = random.between(0, 3);
  for (let i = 0; i < recordCount; i++) {
    if (i > 0) offset += random.chance(0.2) ? random.between(2, 4) : 1;
    const fromMs = logStartMs + i * 700;
    const timestampMs = fromMs + 100;
    if (random.chance(0.06)) {
      garbageCount++;
      lettersDue.add(`${offset}/0`);
      records.push({ offset, timestampMs, value: random.pick([null, Buffer.from('{"ts":1')]) });
      continue;
    }
    const some = randomEvents(random, random.between(1, 3), {
      fromMs,
      stepMs: 50,
      jitterMs: 9_000,
    });
    some.forEach((event, index) => {
      // Later than the allowed lateness, once there is a watermark.
      if (i > 2 && random.chance(0.05)) event.ts = logStartMs - 7_200_000;
      else if (random.chance(0.03)) event.ts = logNowMs + 7_200_000;
      else return;
      lettersDue.add(`${offset}/${index}`);
    });
    events.push(...some);
    const text = some.map((event) => JSON.stringify(event)).join('\n');
    records.push({ offset, timestampMs, value: Buffer.from(text) });
  }
  // A marker after the last record, or none.
  const endOffset = offset + random.between(1, 2);
  return { records, endOffset, events, garbageCount, lettersDue };
}
