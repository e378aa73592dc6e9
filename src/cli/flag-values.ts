import { OperatorError } from '../base/operator-error.ts';
import { parseDuration } from '../config/duration.ts';
import { epochMsOf } from '../decode/epoch-ms-of.ts';
import { type Role, roles } from '../roles/role.ts';

// Values of flags. All functions throw an OperatorError with TAILMARK_USAGE for other texts.

/** Parses a number from `least` to `most`. */
export function countOption(
  flag: string,
  given: unknown,
  least: number,
  most: number,
  kind: 'a whole number' | 'a number' = 'a whole number',
): number {
  const text = String(given).trim();
  const value = text === '' ? Number.NaN : Number(text);
  const isKind = kind === 'a number' || Number.isInteger(value);
  if (value >= least && value <= most && isKind) return value;
  throw new OperatorError(
    'TAILMARK_USAGE',
    `Cannot run as ${flag} must be ${kind} from ${least} to ${most}: it is ${JSON.stringify(given)}`,
  );
}

/** Reads `max` as infinite, and a number as event time per wall time. */
export function parseSpeed(text: string): number {
  if (text === 'max') return Number.POSITIVE_INFINITY;
  const speed = text.trim() === '' ? Number.NaN : Number(text);
  if (speed > 0 && speed <= 1_000_000) return speed;
  throw new OperatorError(
    'TAILMARK_USAGE',
    `Cannot read --speed as it must be "max" or a number above 0, at most 1000000: it is ${JSON.stringify(text)}`,
    { hint: '1 is real time, 60 plays an hour in a minute.' },
  );
}

/** Milliseconds of an RFC 3339 time, also without its seconds, as commands print whole minutes; NaN of another text. */
export function timeMsOf(text: string): number {
  return epochMsOf(text.replace(/^(.{10}[T ]\d\d:\d\d)(Z|[+-]\d\d:\d\d)$/i, '$1:00$2'));
}

/** Reads `now`, `-1h` (an hour ago) or an RFC 3339 time. */
export function parseStart(text: string, nowMs: number): number {
  if (text === 'now') return nowMs;
  if (text.startsWith('-')) {
    const agoMs = parseDuration(text.slice(1));
    if (agoMs !== undefined) return nowMs - agoMs;
  }
  const startMs = timeMsOf(text);
  if (!Number.isNaN(startMs)) return startMs;
  throw new OperatorError(
    'TAILMARK_USAGE',
    `Cannot read --start as it must be "now", a duration ago or an RFC 3339 time: it is ${JSON.stringify(text)}`,
    { hint: 'Write --start -1h, or --start 2026-11-01T08:00:00Z.' },
  );
}

export function port(value: unknown, flag: string): number | undefined {
  if (value === undefined) return undefined;
  const text = String(value);
  const number = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (number >= 1 && number <= 65_535) return number;
  throw new OperatorError(
    'TAILMARK_USAGE',
    `Cannot listen as ${flag} must be a port from 1 to 65535: it is ${text}`,
    { hint: `Leave ${flag} out to get a free port.` },
  );
}

/** Half-open range of event time. */
export interface TimeRange {
  readonly fromMs: number;
  readonly toMs: number;
}

/**
 * Parses the range of --since and --until, or of other options: a duration before now (`15m`, `7d`), a time
 * (RFC 3339), or `now`. It begins before it ends.
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
  const parsed = timeMsOf(text);
  if (!Number.isNaN(parsed)) return parsed;
  throw new OperatorError(
    'TAILMARK_USAGE',
    `Cannot read ${flag} as it must be a duration before now or an RFC 3339 time: it is ${JSON.stringify(text)}`,
    { hint: 'For example 15m, 24h, 7d, now, 2026-11-01T12:00:00Z or 2026-11-01T12:00:00+01:00.' },
  );
}

/** The roles that --roles names. @throws OperatorError for another name */
export function rolesOf(list: string): Role[] {
  return list.split(',').map((name) => {
    const role = roles.find((known) => known === name.trim());
    if (role !== undefined) return role;
    throw new OperatorError(
      'TAILMARK_USAGE',
      `Cannot run as --roles must name ${roles.join(', ')}: it is ${list}`,
      { hint: 'Separate several by commas.' },
    );
  });
}
