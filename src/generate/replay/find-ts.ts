import { epochMsOf } from '../../decode/epoch-ms-of.ts';

/** Position of the value of an event's `ts` in its text, [start, end), and the time itself. */
export interface TsPlace {
  readonly start: number;
  readonly end: number;
  readonly tsMs: number;
}

/**
 * Finds the `ts` of an event in its text, a valid JSON object; of two, the last, like JSON.parse. A time is a
 * finite number or an RFC 3339 date-time; undefined without one. O(length).
 */
export function findTs(text: string): TsPlace | undefined {
  let found: TsPlace | undefined;
  let depth = 0;
  let expectsKey = false;
  for (let at = 0; at < text.length; at++) {
    switch (text[at]) {
      case '{':
      case '[':
        depth++;
        expectsKey = depth === 1;
        break;
      case '}':
      case ']':
        depth--;
        break;
      case ',':
        expectsKey = depth === 1;
        break;
      case '"': {
        const end = stringEnd(text, at);
        if (expectsKey && JSON.parse(text.slice(at, end)) === 'ts') found = valueAfter(text, end);
        expectsKey = false;
        at = end - 1;
        break;
      }
    }
  }
  return found;
}

/** Returns the index after the closing quote of the string that begins at `at`. */
function stringEnd(text: string, at: number): number {
  let end = at + 1;
  while (end < text.length && text[end] !== '"') end += text[end] === '\\' ? 2 : 1;
  return end + 1;
}

const valuePattern = /\s*:\s*("(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*)/y;

function valueAfter(text: string, keyEnd: number): TsPlace | undefined {
  valuePattern.lastIndex = keyEnd;
  const value = valuePattern.exec(text)?.[1];
  if (value === undefined) return undefined;
  const end = valuePattern.lastIndex;
  const given: unknown = JSON.parse(value);
  const tsMs = typeof given === 'string' ? epochMsOf(given) : Number(given);
  return Number.isFinite(tsMs) ? { start: end - value.length, end, tsMs } : undefined;
}
