import { dayMs, hourMs, minuteMs, secondMs, weekMs } from '../base/time.ts';

const unitsMs = { ms: 1, s: secondMs, m: minuteMs, h: hourMs, d: dayMs, w: weekMs } as const;
export const durationPattern = /^(\d+(?:\.\d+)?)(ms|s|m|h|d|w)$/;

/**
 * Parses a duration as Prometheus writes it: a number and one unit, `500ms`, `10s`, `5m`, `24h`, `7d`, `2w`.
 * Returns milliseconds, or undefined for any other text.
 */
export function parseDuration(text: string): number | undefined {
  const match = durationPattern.exec(text);
  if (match === null) return undefined;
  return Number(match[1]) * unitsMs[match[2] as keyof typeof unitsMs];
}

/** Formats `ms` as the shortest text that `parseDuration` reads back: `90s`, `5m`, `7d`. Weeks stay days. */
export function formatDuration(ms: number): string {
  for (const unit of ['d', 'h', 'm', 's'] as const) {
    if (ms >= unitsMs[unit] && ms % unitsMs[unit] === 0) return `${ms / unitsMs[unit]}${unit}`;
  }
  return `${ms}ms`;
}
