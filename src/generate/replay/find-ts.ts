import { epochMsOf } from '../../decode/epoch-ms-of.ts';

/** Where the value of an event's `ts` stands in its text, [start, end), and what it says. */
export interface TsPlace {
  readonly start: number;
  readonly end: number;
  readonly tsMs: number;
}

/**
 * Finds the `ts` of an event in its text, which must be a valid JSON object: the last one, if the
 * key is there twice, as JSON.parse takes it. undefined if there is none that is a time: a finite
 * number, or an RFC 3339 date-time. O(length).
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

/** Index after the closing quote of the string that begins at `at`. */
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
