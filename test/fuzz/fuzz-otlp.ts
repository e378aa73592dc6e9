import { deepStrictEqual } from 'node:assert';
import type { DecodeSink, EventDecoder } from '../../src/decode/event-decoder.ts';
import { OtlpJsonDecoder } from '../../src/formats/otlp/otlp-json-decoder.ts';
import { jsonOf } from '../formats/otlp/oracle.ts';
import { generalPath, testOptions, testProtoDecoder } from '../formats/otlp/outcomes.ts';
import { bytesField } from '../formats/otlp/proto-writer.ts';
import { RandomRequests } from '../formats/otlp/random-request.ts';
import type { FuzzMessages } from './fuzz-messages.ts';

const bases = 40;
/** Shares of messages, one after another: whole ones, mutated ones, and spans mutated in a whole message. */
const WHOLE_SHARE = 0.2;
const MUTATED_SHARE = 0.6;
const JSON_SHARE = 0.05;
/** Messages whose outcomes are held against the general path's. */
const GENERAL_SHARE = 0.1;

/**
 * Gives valid and mutated messages of spans to the decoders of OTLP and holds what comes out against what
 * must: every span is given once, and a share of the messages as the general path gives it.
 *
 * @throws where it does not hold. @returns the milliseconds of the slowest message.
 */
export function fuzzOtlp(messages: FuzzMessages, count: number): number {
  const random = () => messages.random();
  const requests = new RandomRequests(random, { oddShare: 0.05, spans: 4 });
  const whole = Array.from({ length: bases }, () => requests.next());
  const spans = Array.from({ length: bases }, () => requests.span());
  const json = whole.map((request) => Buffer.from(jsonOf(request)));
  const proto = testProtoDecoder();
  const text = new OtlpJsonDecoder(testOptions());
  const general = generalPath();
  const pick = (list: readonly Buffer[]) => list[Math.floor(random() * list.length)] as Buffer;
  let slowestMs = 0;
  for (let i = 0; i < count; i++) {
    if (random() < JSON_SHARE) {
      slowestMs = Math.max(slowestMs, checked(text, messages.mutate(pick(json)), i));
      continue;
    }
    const kind = random();
    let message = pick(whole);
    if (kind > MUTATED_SHARE) {
      const span = bytesField(2, messages.mutate(pick(spans)));
      message = bytesField(1, [bytesField(2, [span, bytesField(2, pick(spans)), span])]);
    } else if (kind > WHOLE_SHARE) message = messages.mutate(message);
    slowestMs = Math.max(slowestMs, checked(proto.decoder, message, i));
    if (random() < GENERAL_SHARE) {
      const { outcomes } = proto.decode(message);
      deepStrictEqual(outcomes, general(message), shown(message, i));
    }
  }
  return slowestMs;
}

/** Decodes a message, and holds that each of its items was given once, in its place. Returns milliseconds. */
function checked(decoder: EventDecoder, message: Buffer, number: number): number {
  let seen = 0;
  const check = (holds: boolean, rule: string) => {
    if (!holds) throw new Error(`${rule}: ${shown(message, number)}`);
  };
  const within = (start: number, end: number) => {
    check(
      start >= 0 && start <= end && end <= message.length,
      'an item must be within its message',
    );
    seen++;
  };
  const sink: DecodeSink = {
    event: (event, start, end) => {
      check(event.totalMs >= 0 && event.tsMs > 0, 'an event must be valid');
      within(start, end);
    },
    reject: (index, _reason, detail, start, end) => {
      check(index === seen, 'a rejection must have its place');
      check(detail.length > 0 && detail.length < 1_000, 'a rejection must say why, in short');
      decoder.letter(message, start, end);
      within(start, end);
    },
    skip: (count) => {
      seen += count;
    },
  };
  const startedMs = performance.now();
  const count = decoder.decode(message, sink);
  const ms = performance.now() - startedMs;
  check(count === seen, 'every item must be given once');
  return ms;
}

function shown(message: Buffer, number: number): string {
  return `message ${number} of the round, ${message.length} bytes, base64 ${message.toString('base64').slice(0, 4_000)}`;
}
