import { OperatorError } from '../base/operator-error.ts';
import { parseDuration } from '../config/duration.ts';
import { epochMsOf } from '../decode/epoch-ms-of.ts';

/** Reads `now`, `-1h` (an hour ago) or an RFC 3339 time. @throws {OperatorError} otherwise */
export function parseStart(text: string, nowMs: number): number {
  if (text === 'now') return nowMs;
  if (text.startsWith('-')) {
    const agoMs = parseDuration(text.slice(1));
    if (agoMs !== undefined) return nowMs - agoMs;
  }
  const startMs = epochMsOf(text);
  if (!Number.isNaN(startMs)) return startMs;
  throw new OperatorError(
    'TAILMARK_USAGE',
    `Cannot read --start as it must be "now", a duration ago or an RFC 3339 time: it is ${JSON.stringify(text)}`,
    { hint: 'Write --start -1h, or --start 2026-11-01T08:00:00Z.' },
  );
}
