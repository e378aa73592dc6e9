import type { TsPlace } from './find-ts.ts';

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
