import { limits } from '../../../base/limits.ts';

/** Digits of a threshold: 56 bits. */
const digits = 14;
const all = 2 ** 56;

/**
 * Requests that a span stands for by its trace state: `ot=th:c` was sampled one in four. The threshold of
 * OpenTelemetry's probability sampling is the share that was dropped, in hex digits behind the point.
 *
 * @returns a whole number, at most that of an event; undefined where nothing says that it was sampled.
 */
export function weightOf(traceState: string): number | undefined {
  if (traceState === '') return undefined;
  const threshold = /(?:^|,)\s*ot=(?:[^,]*;)?th:([0-9a-f]{1,14})(?:[;,\s]|$)/.exec(traceState)?.[1];
  if (threshold === undefined) return undefined;
  const dropped = Number.parseInt(threshold.padEnd(digits, '0'), 16);
  const weight = Math.round(all / (all - dropped));
  return weight <= 1 ? undefined : Math.min(weight, limits.eventWeight);
}
