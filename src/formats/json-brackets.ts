import { limits } from '../base/limits.ts';
import { bracketsOf } from '../decode/brackets.ts';
import type { Rejection } from '../decode/decode-event.ts';

/** Returns why a message of JSON is not parsed as a whole: it nests too deep, or holds too much. */
export function bracketsExcess(message: Uint8Array): Rejection | undefined {
  const { depth, count } = bracketsOf(message, 0, message.length);
  if (depth > limits.messageDepth) {
    const rule = `at most ${limits.messageDepth} levels`;
    return { reason: 'too_deep', detail: `The message must nest ${rule}: it nests deeper` };
  }
  if (count > limits.messageBrackets) {
    const rule = `at most ${limits.messageBrackets} objects and arrays`;
    return {
      reason: 'too_many_events',
      detail: `The message must hold ${rule}: it holds ${count}`,
    };
  }
  if (!hasMembersBeyond(message, depth)) return undefined;
  const rule = `at most ${limits.messageMembers} members`;
  const detail = `An object or array of the message must have ${rule}: one has more`;
  return { reason: 'too_many_events', detail };
}

/** Returns true if an object or array has too many members, by the commas in it. */
function hasMembersBeyond(bytes: Uint8Array, deepest: number): boolean {
  const end = bytes.length;
  // Shorter ones have not the room for them.
  if (end < limits.messageMembers) return false;
  const commas = new Int32Array(deepest + 1);
  let depth = 0;
  for (let i = 0; i < end; i++) {
    const byte = bytes[i] as number;
    if (byte === 0x22) {
      i++;
      while (i < end && bytes[i] !== 0x22) i += bytes[i] === 0x5c ? 2 : 1;
    } else if (byte === 0x7b || byte === 0x5b) commas[++depth] = 0;
    else if (byte === 0x7d || byte === 0x5d) depth = Math.max(0, depth - 1);
    else if (byte === 0x2c) {
      const count = (commas[depth] as number) + 1;
      if (count >= limits.messageMembers) return true;
      commas[depth] = count;
    }
  }
  return false;
}
