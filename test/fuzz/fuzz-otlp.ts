import { deepStrictEqual } from 'node:assert';
import { OtlpJsonDecoder } from '../../src/formats/otlp/otlp-json-decoder.ts';
import { jsonOf } from '../formats/otlp/oracle.ts';
import { generalPath, testOptions, testProtoDecoder } from '../formats/otlp/outcomes.ts';
import { bytesField } from '../formats/otlp/proto-writer.ts';
import { RandomRequests } from '../formats/otlp/random-request.ts';
import { checkedDecode, messageText } from './checked-decode.ts';
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
      slowestMs = Math.max(slowestMs, checkedDecode(text, messages.mutate(pick(json)), i));
      continue;
    }
    const kind = random();
    let message = pick(whole);
    if (kind > MUTATED_SHARE) {
      const span = bytesField(2, messages.mutate(pick(spans)));
      message = bytesField(1, [bytesField(2, [span, bytesField(2, pick(spans)), span])]);
    } else if (kind > WHOLE_SHARE) message = messages.mutate(message);
    slowestMs = Math.max(slowestMs, checkedDecode(proto.decoder, message, i));
    if (random() < GENERAL_SHARE) {
      const { outcomes } = proto.decode(message);
      deepStrictEqual(outcomes, general(message), messageText(i, message));
    }
  }
  return slowestMs;
}
