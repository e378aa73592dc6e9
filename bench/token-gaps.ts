import { facets } from '../src/base/facets.ts';
import type { DecodedEvent } from '../src/decode/decoded-event.ts';
import { MessageDecoder } from '../src/decode/message/message-decoder.ts';
import { Random } from '../src/generate/random.ts';
import { ChunkBlock } from '../src/sink/chunks/chunk-block.ts';
import { encodeChunk } from '../src/sink/chunks/encode-chunk.ts';
import { ChunkAccumulator } from '../src/window/chunk-accumulator.ts';
import { measureInTurn, printMeasured } from './measure/in-turn.ts';
import { benchEvents } from './traffic/bench-events.ts';

// What the gaps between tokens of an event cost: decoding beside JSON.parse of the message's text, decoding
// and counting beside decoding alone, and the rows and bytes of a chunk. The same events with 0, 16 and 128
// gaps, one window of 20 series. Both sides must agree on the number of gaps and their sum first. Prints one
// JSON document: nanoseconds of CPU an event over rounds run alternately.

const eventCount = 5_000;
const rounds = 15;
const nowMs = 1_789_000_100_000;

const chunk = new ChunkAccumulator({
  dimensions: ['model', 'version', 'request_type', 'region', 'cold_start'],
  facets: [...facets],
  maxCells: 100_000,
  allowedLatenessMs: 86_400_000,
  maxFutureMs: 300_000,
  graceMs: 2_000,
});
const decoder = new MessageDecoder({
  stages: chunk.stages,
  values: chunk.values,
  maxMessageBytes: 16 << 20,
  maxDurationMs: 3_600_000,
  maxDimensionBytes: 256,
});
const origin = {
  ...{ groupId: 'bench', topic: 'bench', logId: 'c/t' },
  ...{ partition: 0, startOffset: 0, nowMs },
};

/** The events of the benches with so many gaps each, to the microsecond. */
function messagesOf(gaps: number): Buffer[] {
  const random = new Random('token gaps');
  return [...benchEvents({ seed: 1, count: eventCount })].map((message) => {
    if (gaps === 0) return message;
    const lines = message.toString().split('\n');
    return Buffer.from(
      lines
        .map((line) => {
          const ms = Array.from({ length: gaps }, () => random.lognormal(20, 0.4).toFixed(3));
          return `${line.slice(0, -1)},"itl_ms":[${ms.map(Number).join()}]}`;
        })
        .join('\n'),
    );
  });
}

function decode(messages: readonly Buffer[], isCounted: boolean) {
  const sums = { events: 0, gaps: 0, ms: 0 };
  if (isCounted) chunk.begin(Number.NEGATIVE_INFINITY, nowMs);
  const sink = {
    event(event: DecodedEvent) {
      sums.events++;
      sums.gaps += event.gapCount;
      for (let i = 0; i < event.gapCount; i++) sums.ms += event.gapsMs[i] as number;
      if (isCounted) chunk.add(event);
    },
    reject(_index: number, reason: string) {
      throw new Error(`a bench event was rejected: ${reason}`);
    },
    skip() {},
  };
  for (const message of messages) decoder.decode(message, sink);
  return sums;
}

function parse(messages: readonly Buffer[]) {
  const sums = { events: 0, gaps: 0, ms: 0 };
  for (const message of messages) {
    for (const line of message.toString().split('\n')) {
      const { itl_ms = [] } = JSON.parse(line) as { itl_ms?: readonly number[] };
      sums.events++;
      sums.gaps += itl_ms.length;
      for (const ms of itl_ms) sums.ms += ms;
    }
  }
  return sums;
}

const results: Record<string, unknown> = {};
for (const gaps of [0, 16, 128]) {
  const messages = messagesOf(gaps);
  const [ours, parsed] = [decode(messages, false), parse(messages)];
  if (JSON.stringify(ours) !== JSON.stringify(parsed) || ours.gaps !== gaps * eventCount) {
    throw new Error(`they disagree: ${JSON.stringify({ ours, parsed })}`);
  }
  const options = { items: eventCount, rounds, warmUps: 10 };
  const decoding = measureInTurn(
    options,
    () => decode(messages, false),
    () => parse(messages),
  );
  const counting = measureInTurn(
    options,
    () => decode(messages, false),
    () => decode(messages, true),
  );
  const encoded = encodeChunk(chunk, origin, new ChunkBlock());
  results[`gaps an event: ${gaps}`] = {
    bytesAnEvent: messages.reduce((sum, message) => sum + message.length, 0) / eventCount,
    decoder: decoding.first,
    jsonParse: decoding.second,
    decodedAndCounted: counting.second,
    chunk: { rows: encoded.rowCount, bytes: encoded.bytes.length, samples: encoded.samples },
  };
}
printMeasured({ rounds, fallbackCount: decoder.fallbackCount, results });
