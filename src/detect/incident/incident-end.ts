import type { AnomalyEvent } from '../../contract/anomaly-event.ts';

/** What ended one of them beside another anomaly of its series. */
export function recoveredField(affected: readonly AnomalyEvent[]): Pick<AnomalyEvent, 'recovered'> {
  const { recovered } = affected.find((event) => event.recovered !== undefined) ?? {};
  return recovered === undefined ? {} : { recovered };
}

/** The last of their ends; null where one has none, as it is the baseline now. */
export function lastEnd(affected: readonly AnomalyEvent[]): string | null {
  const ends = affected.map(({ ended_at }) => ended_at);
  return ends.includes(null) ? null : (ends.sort().at(-1) ?? null);
}
