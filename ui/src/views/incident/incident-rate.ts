import type { AnomalyEvent, Rate } from '../../../../src/contract/anomaly-event.ts';
import type { RateLine, RateMeasure } from '../../charts/geometry/rate.ts';
import type { TailsAnswer } from '../../data/answers.ts';
import { type PlainColumn, tableOf } from '../../parts/table-of.ts';

/** Drawing and name of an incident's rate. */
interface ShownRate {
  readonly measure: RateMeasure;
  /** Name in a table of series. */
  readonly measured: string;
  /** Name in a title. */
  readonly title: string;
}

const shown: Readonly<Record<Rate['unit'], ShownRate>> = {
  'failures per request': { measure: 'failed', measured: 'failed', title: 'failed requests' },
  // Slow requests are bad too; steps count only the failed ones.
  'errors per request': { measure: 'failed', measured: 'slow or failed', title: 'failed requests' },
  'cold starts per request': { measure: 'cold', measured: 'cold starts', title: 'cold starts' },
  'requests per second': {
    measure: 'per_second',
    measured: 'requests',
    title: 'requests per second',
  },
};

export const shownRate = ({ unit }: Pick<Rate, 'unit'>): ShownRate => shown[unit];

/** The rate that the steps of an incident's timeline can be compared with; null where it has none. */
export function rateBaseline({
  rate: own,
  scope,
  members,
}: Pick<AnomalyEvent, 'rate' | 'scope' | 'members'>): {
  readonly value: number;
  readonly name: string;
} | null {
  // The numbers of an incident are those of its most affected series.
  const rate = members?.[0]?.rate ?? own;
  if (rate === undefined) return null;
  if (rate.unit === 'errors per request') return { value: rate.baseline, name: 'allowed' };
  if (scope === undefined) return { value: rate.baseline, name: 'baseline' };
  // Requests of several series add up; the event has the baseline of one of them.
  if (rate.unit === 'requests per second') return null;
  return { value: rate.baseline, name: 'baseline of the most affected series' };
}

/** Requests of an incident's rate: cold and warm ones together where that is what it counts. */
export const rateStart = ({ unit }: Pick<Rate, 'unit'>): 'all' | undefined =>
  shown[unit].measure === 'failed' ? undefined : 'all';

/** Numbers of a rate: a row a step. */
export function rateTable({ rows }: TailsAnswer, line: RateLine) {
  const isShare = line.measure !== 'per_second';
  const { fromMs, stepMs } = line.grid;
  const stepOf = (at: string | null) => Math.round((Date.parse(at ?? '') - fromMs) / stepMs);
  const counts: PlainColumn<TailsAnswer['rows'][number]> = [
    line.measure === 'cold' ? 'cold starts' : 'failed',
    ({ at }) => line.counts[stepOf(at)] ?? null,
  ];
  return tableOf(rows, [
    ...(['at', 'state', 'requests'] as const),
    ...(isShare ? [counts] : []),
    [isShare ? 'share' : 'per second', ({ at }) => line.values[stepOf(at)] ?? null],
  ]);
}
