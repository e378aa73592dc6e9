import { isUtf8 } from 'node:buffer';
import { epochMsOf } from '../../decode/epoch-ms-of.ts';
import { sourceKey } from '../timing-event-json.ts';

/** Position of the value of an event's `ts` in its text, [start, end), and the time itself. */
export interface TsPlace {
  readonly start: number;
  readonly end: number;
  readonly tsMs: number;
}

/** Fields of a recorded line that a replay needs. */
export interface EventLine {
  readonly text: string;
  readonly ts: TsPlace;
  /** Duration of its request in milliseconds: the total, else the sum of the stages, else 0. */
  readonly lastsMs: number;
  /** Key of its source; undefined if it names no model. */
  readonly key: string | undefined;
}

/** Reads a line that is a JSON object with a `ts`; undefined for any other. Never throws. */
export function readEventLine(line: Buffer): EventLine | undefined {
  // Decoding to a string would change invalid UTF-8.
  if (!isUtf8(line)) return undefined;
  const text = line.toString('utf8');
  const event = parseObject(text);
  if (event === undefined) return undefined;
  const ts = findTs(text);
  if (ts === undefined) return undefined;
  const { model, host } = event;
  const source = typeof host === 'string' ? host : '';
  const key = typeof model === 'string' ? sourceKey(model, source) : undefined;
  return { text, ts, lastsMs: lastsMsOf(event), key };
}

function lastsMsOf({ total_ms, stages_ms }: Readonly<Record<string, unknown>>): number {
  if (typeof total_ms === 'number') return Math.max(0, total_ms);
  if (typeof stages_ms !== 'object' || stages_ms === null) return 0;
  let sumMs = 0;
  for (const ms of Object.values(stages_ms)) if (typeof ms === 'number') sumMs += Math.max(0, ms);
  return sumMs;
}

function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    return value as Record<string, unknown>;
  } catch {
    return undefined;
  }
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

/**
 * Moves the event's `ts` by a whole number of milliseconds and keeps the other bytes. A number stays a number
 * and keeps its fraction. A date-time stays one, in UTC, and keeps its digits beyond milliseconds.
 */
export function shiftTs(text: string, { start, end, tsMs }: TsPlace, shiftMs: number): string {
  return text.slice(0, start) + shifted(text.slice(start, end), tsMs, shiftMs) + text.slice(end);
}

function shifted(value: string, tsMs: number, shiftMs: number): string {
  if (value.startsWith('"')) {
    const beyond = /\.\d{3}(\d+)/.exec(value)?.[1] ?? '';
    return `"${new Date(tsMs + shiftMs).toISOString().slice(0, -1)}${beyond}Z"`;
  }
  const plain = /^(\d+)(\.\d+)?$/.exec(value);
  if (plain === null) return String(tsMs + shiftMs);
  return `${Number(plain[1]) + shiftMs}${plain[2] ?? ''}`;
}
