const MAX_WEIGHT = 10_000;
/** Hex digits of a threshold, which stands for 56 bits. */
const DIGITS = 14;

/**
 * Returns for how many requests a sampled one stands, by the threshold of OpenTelemetry's `tracestate`
 * (`ot=th:e66666` is 1 in 10); undefined where it says nothing or more than an event may weigh.
 *
 * Definition: https://opentelemetry.io/docs/specs/otel/trace/tracestate-probability-sampling
 */
export function weightOf(traceState: string): number | undefined {
  if (traceState === '') return undefined;
  const threshold = /(?:^|,)\s*ot=(?:[^,]*;)?th:([0-9a-f]{1,14})(?=[;,\s]|$)/.exec(traceState)?.[1];
  if (threshold === undefined) return undefined;
  const rejected = Number.parseInt(threshold.padEnd(DIGITS, '0'), 16) / 16 ** DIGITS;
  const weight = Math.round(1 / (1 - rejected));
  return weight > 1 && weight <= MAX_WEIGHT ? weight : undefined;
}
