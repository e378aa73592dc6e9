import type { DecodeSink, EventDecoder } from '../../src/decode/event-decoder.ts';
import { fastestMs } from './fastest-ms.ts';

/**
 * Decodes a message, and holds that each of its items was given once, in its place.
 *
 * @throws where it does not hold. @returns milliseconds.
 */
export function checkedDecode(decoder: EventDecoder, message: Buffer, number: number): number {
  return fastestMs(() => decodeOnce(decoder, message, number));
}

function decodeOnce(decoder: EventDecoder, message: Buffer, number: number): void {
  let seen = 0;
  const check = (holds: boolean, rule: string) => {
    if (!holds) throw new Error(`${rule}: ${messageText(number, message)}`);
  };
  const within = (start: number, end: number) => {
    const isWithin = start >= 0 && start <= end && end <= message.length;
    check(isWithin, 'an item must be within its message');
    seen++;
  };
  const sink: DecodeSink = {
    event: (event, start, end) => {
      check(!(event.totalMs < 0) && event.tsMs > 0, 'an event must be valid');
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
  check(decoder.decode(message, sink) === seen, 'every item must be given once');
}

/** A message as a failure shows it. */
export function messageText(number: number, message: Buffer): string {
  return `message ${number} of the round, ${message.length} bytes, base64 ${message.toString('base64').slice(0, 4_000)}`;
}
