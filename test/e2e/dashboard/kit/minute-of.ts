/** A timing event, as it is sent. */
export interface Event {
  readonly ts: number;
  readonly model: string;
  readonly total_ms?: number;
  readonly [field: string]: unknown;
}

/** One request in ten is long. */
const tokensOf = (n: number) => (n % 10 === 0 ? 900 : 100);

/** A minute of a model: so many requests of about a duration. */
export function minuteOf(
  model: string,
  startMs: number,
  requests: number,
  ms: number,
  more = {},
): Event[] {
  return Array.from({ length: requests }, (_, n) => {
    const total = ms * (1 + ((n * 37) % 100) / 200);
    return {
      // A request ends in its minute.
      ts: startMs + 100 + Math.floor((n * 50_000) / requests),
      model,
      version: 'v1',
      region: 'eu-west-1',
      request_type: 'search',
      host: `pod-${n % 3}`,
      input_tokens: tokensOf(n),
      ...more,
      total_ms: total,
      stages_ms: { queue: total / 4, forward: total / 2 },
    };
  });
}
