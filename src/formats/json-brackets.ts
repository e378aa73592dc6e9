import { limits } from '../base/limits.ts';
import { bracketsOf } from '../decode/brackets.ts';
import type { Rejection } from '../decode/decode-event.ts';

/** Returns why a message of spans in JSON is not parsed: it nests too deep, or holds too much. */
export function bracketsExcess(message: Uint8Array): Rejection | undefined {
  const { depth, count } = bracketsOf(message, 0, message.length);
  if (depth > limits.spansNestingDepth) {
    const rule = `at most ${limits.spansNestingDepth} levels`;
    return { reason: 'too_deep', detail: `The message must nest ${rule}: it nests deeper` };
  }
  if (count > limits.spansBrackets) {
    const rule = `at most ${limits.spansBrackets} objects and arrays`;
    return {
      reason: 'too_many_events',
      detail: `The message must hold ${rule}: it holds ${count}`,
    };
  }
  if (!hasFieldsBeyond(message, depth)) return undefined;
  const rule = `at most ${limits.spansFields} fields`;
  return {
    reason: 'bad_field',
    detail: `An object of the message must have ${rule}: one has more`,
  };
}

/** Returns true if an object has too many fields, by the colons in it. */
function hasFieldsBeyond(bytes: Uint8Array, deepest: number): boolean {
  // Shorter ones have not the room for them.
  if (bytes.length < limits.spansFields) return false;
  const fields = new Int32Array(deepest + 1);
  const end = bytes.length;
  let depth = 0;
  for (let i = 0; i < end; i++) {
    const byte = bytes[i] as number;
    if (byte === 0x22) {
      i++;
      while (i < end && bytes[i] !== 0x22) i += bytes[i] === 0x5c ? 2 : 1;
    } else if (byte === 0x7b || byte === 0x5b) fields[++depth] = 0;
    else if (byte === 0x7d || byte === 0x5d) depth = Math.max(0, depth - 1);
    else if (byte === 0x3a) {
      const count = (fields[depth] as number) + 1;
      if (count > limits.spansFields) return true;
      fields[depth] = count;
    }
  }
  return false;
}
