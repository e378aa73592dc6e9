import { isDeepStrictEqual } from 'node:util';
import { expect } from 'vitest';
import { mulberry32 } from '../../base/seeded-random.ts';
import { canonicalEvent } from '../canonical-event.ts';
import { testDecoder } from '../outcomes.ts';
import { randomEvent } from '../random-event.ts';
import { referenceDecoder } from '../reference-decoder.ts';

/** Fails with the message itself, so that a case can be replayed. */
export function expectSame(
  message: Buffer,
  fast: ReturnType<typeof testDecoder>,
  reference: ReturnType<typeof referenceDecoder>,
  seed: number,
) {
  const { outcomes, count } = fast.decode(message);
  const expected = reference(message);
  if (count === outcomes.length && isDeepStrictEqual(outcomes, expected)) return;
  const context = `case ${seed}: ${JSON.stringify(message.toString('latin1'))}`;
  expect(outcomes, context).toEqual(expected);
  expect(count, context).toBe(outcomes.length);
}

/** One message of one to three events: alone, on lines, one after another, or in an array. */
function randomMessage(random: () => number): string {
  const events = Array.from({ length: 1 + Math.floor(random() * 3) }, () => randomEvent(random));
  const kind = random();
  if (kind < 0.3) return `[${events.join(random() < 0.5 ? ',' : ' ,\n')}]`;
  return events.join(kind < 0.8 ? '\n' : '') + (random() < 0.5 ? '\n' : '');
}

/** Expects the scanner's outcomes from the general path, for messages with bytes changed or lost. */
export function expectSameOfDamaged(from: number, to: number): void {
  const fast = testDecoder({ stageCapacity: 100_000, valueCapacity: 1_000_000 });
  const reference = referenceDecoder();
  const marks = Buffer.from('{}[]",:\\0123456789.eE+-ntf \n\u0000\u00ff', 'latin1');
  for (let seed = from; seed < to; seed++) {
    const random = mulberry32(seed * 7_919);
    const isPlain = random() < 0.3;
    let bytes = Buffer.from(isPlain ? canonicalEvent : randomMessage(random));
    for (let edits = 1 + Math.floor(random() * 3); edits > 0; edits--) {
      const at = Math.floor(random() * bytes.length);
      const kind = random();
      const until = Math.min(bytes.length, at + 1 + Math.floor(random() * 20));
      if (kind < 0.5) bytes[at] = marks[Math.floor(random() * marks.length)] as number;
      else if (kind < 0.6) bytes[at] = Math.floor(random() * 256);
      else if (kind < 0.75) bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(until)]);
      else if (kind < 0.9) bytes = Buffer.concat([bytes.subarray(0, until), bytes.subarray(at)]);
      else bytes = Buffer.from(bytes.subarray(0, at));
    }
    expectSame(bytes, fast, reference, seed);
  }
}
