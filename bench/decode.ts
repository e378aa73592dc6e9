import type { DecodedEvent } from '../src/decode/decoded-event.ts';
import { Interner } from '../src/decode/interner.ts';
import { MessageDecoder } from '../src/decode/message/message-decoder.ts';
import { measureInTurn, printMeasured } from './measure/in-turn.ts';
import { benchEvents } from './traffic/bench-events.ts';

// What decoding an event costs, beside JSON.parse of the message's text and a read of the fields
// that a consumer needs. Both see the same messages and must agree on every value first. Prints
// one JSON document: nanoseconds of CPU an event over rounds run alternately.

const eventCount = 20_000;
const rounds = 15;

interface Sums {
  events: number;
  tsMs: number;
  totalMs: number;
  stagesMs: number;
  texts: number;
}
const noSums = (): Sums => ({ events: 0, tsMs: 0, totalMs: 0, stagesMs: 0, texts: 0 });

const values = new Interner(100_000);
const decoder = new MessageDecoder({
  stages: new Interner(256),
  values,
  maxMessageBytes: 16 << 20,
  maxDurationMs: 3_600_000,
  maxDimensionBytes: 256,
});

function decodeOurs(messages: readonly Buffer[]): Sums {
  const sums = noSums();
  const sink = {
    event(record: DecodedEvent) {
      sums.events++;
      sums.tsMs += record.tsMs;
      sums.totalMs += record.totalMs;
      for (let i = 0; i < record.stageCount; i++) sums.stagesMs += record.stageMs[i] as number;
      // Dimensions 1 to 4: model, version, request_type, region.
      for (let i = 1; i <= 4; i++)
        sums.texts += values.text(record.dimensionIds[i] as number).length;
    },
    reject(_index: number, reason: string) {
      throw new Error(`a bench event was rejected: ${reason}`);
    },
    skip() {},
  };
  for (const message of messages) decoder.decode(message, sink);
  return sums;
}

interface ParsedEvent {
  readonly ts: number;
  readonly total_ms?: number;
  readonly stages_ms: Readonly<Record<string, number>>;
  readonly model: string;
  readonly version?: string;
  readonly request_type?: string;
  readonly region?: string;
}

function parseLine(line: string, sums: Sums): void {
  const event = JSON.parse(line) as ParsedEvent;
  sums.events++;
  sums.tsMs += event.ts;
  sums.totalMs += event.total_ms ?? 0;
  for (const stage in event.stages_ms) sums.stagesMs += event.stages_ms[stage] as number;
  sums.texts += event.model.length + (event.version?.length ?? 0);
  sums.texts += (event.request_type?.length ?? 0) + (event.region?.length ?? 0);
}

function decodeByParse(messages: readonly Buffer[]): Sums {
  const sums = noSums();
  for (const message of messages) {
    const text = message.toString();
    for (let start = 0; start < text.length; ) {
      const newline = text.indexOf('\n', start);
      const end = newline < 0 ? text.length : newline;
      parseLine(start === 0 && end === text.length ? text : text.slice(start, end), sums);
      start = end + 1;
    }
  }
  return sums;
}

const results: Record<string, unknown> = {};
for (const eventsPerMessage of [1, 100]) {
  const messages = [...benchEvents({ seed: 1, count: eventCount, eventsPerMessage })];
  const [ours, parsed] = [decodeOurs(messages), decodeByParse(messages)];
  if (JSON.stringify(ours) !== JSON.stringify(parsed) || ours.events !== eventCount) {
    throw new Error(`they disagree: ${JSON.stringify({ ours, parsed })}`);
  }
  const options = { items: eventCount, rounds, warmUps: 10 };
  const { first, second, medianRatio } = measureInTurn(
    options,
    () => decodeOurs(messages),
    () => decodeByParse(messages),
  );
  results[`events a message: ${eventsPerMessage}`] = {
    bytesAnEvent: messages.reduce((sum, message) => sum + message.length, 0) / eventCount,
    decoder: first,
    jsonParse: second,
    medianRatio,
  };
}
printMeasured({ rounds, fallbackCount: decoder.fallbackCount, results });
