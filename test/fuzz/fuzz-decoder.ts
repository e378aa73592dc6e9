import { deepStrictEqual } from 'node:assert';
import type { DecodeSink } from '../../src/decode/event-decoder.ts';
import { testDecoder } from '../decode/outcomes.ts';
import { referenceDecoder } from '../decode/reference-decoder.ts';
import { messageText } from './checked-decode.ts';
import { fastestMs } from './fastest-ms.ts';
import type { FuzzMessages } from './fuzz-messages.ts';

/** The reference looks for an event's end by trying: it is for short messages. */
const REFERENCE_BYTES = 1_200;
/** Messages that the decoder without the kernel is given as well. */
const PLAIN_SHARE = 0.3;
/** The reference knows no limits. */
const limitReasons = new Set(['too_deep', 'too_many_events', 'message_too_large']);

/**
 * Gives messages to one decoder and holds what comes out against what must: every event is given
 * once, in order, from bytes of its own; a share of the messages also against the reference.
 *
 * @throws where it does not hold. @returns the milliseconds of the slowest message.
 */
export function fuzzDecoder(messages: FuzzMessages, count: number, referenceShare: number): number {
  const { decoder, decode } = testDecoder();
  const reference = referenceDecoder();
  // The same in JavaScript alone, which must not be told from the one with the kernel.
  const plain = testDecoder({ kernel: null });
  let slowestMs = 0;
  for (let i = 0; i < count; i++) {
    const message = messages.next();
    if (message.length <= REFERENCE_BYTES && messages.random() < referenceShare) {
      const { outcomes } = decode(message);
      const isLimited = outcomes.some((one) => 'reason' in one && limitReasons.has(one.reason));
      if (!isLimited) deepStrictEqual(outcomes, reference(message), messageText(i, message));
      continue;
    }
    if (message.length <= REFERENCE_BYTES && messages.random() < PLAIN_SHARE) {
      deepStrictEqual(decode(message), plain.decode(message), messageText(i, message));
      continue;
    }
    const ms = fastestMs(() => {
      const sink = new CheckingSink(i, message);
      const events = decoder.decode(message, sink);
      sink.check(events === sink.seen && events > 0, 'every event must be given once');
    });
    slowestMs = Math.max(slowestMs, ms);
  }
  return slowestMs;
}

class CheckingSink implements DecodeSink {
  seen = 0;
  #end = 0;
  readonly #number: number;
  readonly #message: Buffer;

  constructor(number: number, message: Buffer) {
    this.#number = number;
    this.#message = message;
  }

  event(_: unknown, start: number, end: number): void {
    this.#take(start, end);
  }

  reject(index: number, _reason: string, detail: string, start: number, end: number): void {
    this.check(index === this.seen, 'a rejection must have its place');
    this.check(detail.length > 0 && detail.length < 1_000, 'a rejection must say why, in short');
    this.#take(start, end);
  }

  skip(): void {
    this.check(false, 'an object must be an event or rejected');
  }

  check(holds: boolean, rule: string): void {
    if (!holds) throw new Error(`${rule}: ${messageText(this.#number, this.#message)}`);
  }

  #take(start: number, end: number): void {
    const isWithin = start >= this.#end && end >= start && end <= this.#message.length;
    this.check(isWithin, 'events must not share bytes');
    this.#end = end;
    this.seen++;
  }
}
