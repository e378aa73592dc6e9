import { OperatorError } from '../base/operator-error.ts';
import { parseDuration } from '../config/duration.ts';

/** Half-open range of event time. */
export interface TimeRange {
  readonly fromMs: number;
  readonly toMs: number;
}

/**
 * Parses the range of --since and --until, or of other options: a duration before now (`15m`, `7d`), a time
 * (RFC 3339), or `now`.
 *
 * @throws {OperatorError} for other texts, and for a range that ends before it begins
 */
export function timeRange(
  since: string,
  until: string,
  nowMs: number,
  [from, to]: readonly [string, string] = ['--since', '--until'],
): TimeRange {
  const fromMs = instant(from, since, nowMs);
  const toMs = instant(to, until, nowMs);
  if (fromMs < toMs) return { fromMs, toMs };
  throw new OperatorError(
    'TAILMARK_USAGE',
    `Cannot take a range as ${from} must lie before ${to}: it is ${since}, and ${to} is ${until}`,
    { hint: `Durations count back from now: ${from} 2h ${to} 1h.` },
  );
}

function instant(flag: string, text: string, nowMs: number): number {
  if (text === 'now') return nowMs;
  const ms = parseDuration(text);
  if (ms !== undefined) return nowMs - ms;
  const parsed = Date.parse(text);
  if (!Number.isNaN(parsed)) return parsed;
  throw new OperatorError(
    'TAILMARK_USAGE',
    `Cannot read ${flag} as it must be a duration before now or a time: it is ${text}`,
    { hint: 'For example 15m, 24h, 7d, now or 2026-11-01T12:00:00Z.' },
  );
}
