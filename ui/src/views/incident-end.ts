interface Ending {
  readonly ended_at?: string | null | undefined;
  readonly resolved_at: string | null;
}

/**
 * End of an anomaly that is over, in event time; where that is unknown, the time at which the end was
 * noticed, by the clock. Null while it is open.
 */
export function endOf({ ended_at, resolved_at }: Ending): string | null {
  return resolved_at === null ? null : (ended_at ?? resolved_at);
}

/** The same in epoch milliseconds. */
export function endMsOf(anomaly: Ending): number | null {
  const end = endOf(anomaly);
  return end === null ? null : Date.parse(end);
}
