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
  if (count <= limits.spansBrackets) return undefined;
  const rule = `at most ${limits.spansBrackets} objects and arrays`;
  return { reason: 'too_many_events', detail: `The message must hold ${rule}: it holds ${count}` };
}
