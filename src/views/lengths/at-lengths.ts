import { totalStage } from '../../base/dimensions.ts';
import { minuteSeconds } from '../../base/time.ts';
import { atSizes, sizesDiffer, weightedQuantile } from '../../compare/like-with-like.ts';
import { type SizePart, sizeWeightsError } from '../../compare/size-weights.ts';
import { formatMsOf, quantileName } from '../../contract/format.ts';
import type { ClickHouseClient } from '../../sink/client/clickhouse.ts';
import { readFacets } from '../../sink/read-facets.ts';
import type { TailAtLengths } from '../answers/lengths.ts';
import { type Filters, parametersOf } from '../question.ts';
import { rangeTails } from '../tails.ts';
import type { TimeRange } from '../time-range.ts';
import { readMix, sizesOfAsked } from './read-mix.ts';

/** A time whose lengths of answers are taken. */
export interface Earlier {
  /** "with answers as long as ..." */
  readonly name: string;
  readonly range: TimeRange;
}

export interface LengthsQuery {
  readonly filters: Filters;
  readonly range: TimeRange;
  /** The first one with requests is taken. */
  readonly earlier: readonly Earlier[];
  readonly quantiles: readonly number[];
}

export interface AtLengths {
  readonly earlier: Earlier | undefined;
  readonly rows: readonly TailAtLengths[];
}

type Reason = NonNullable<TailAtLengths['reason']>;

const facet = 'output_tokens';

/** Quantiles whose error is known: `sizeWeightsError`. */
const measured = { least: 0.5, most: 0.99 } as const;

/**
 * Quantiles of whole requests as if their answers were as long as earlier: the weights of a comparison
 * (`atSizes`), within its error. A quantile is shown where it differs by more than that.
 *
 * Cost, of aggregates alone: the rows of one facet of the range, without lengths nothing more. Then those of the
 * time before; the tail of both; and where lengths differ, a digest of the total a window and series of the range.
 * A page of a model reads these windows for its chart, and rows of all facets for its table.
 */
export async function readAtLengths(
  client: ClickHouseClient,
  { filters, range, earlier: times, quantiles }: LengthsQuery,
): Promise<AtLengths> {
  const without = (reason: Reason, earlier?: Earlier): AtLengths => ({
    earlier,
    rows: quantiles.map((q) => unshown(q, reason)),
  });
  const all = await readLengths(client, filters, range);
  if (all.length === 0) return without('no_lengths');
  const found = await firstWithLengths(client, filters, times);
  if (found === undefined) return without('nothing_earlier');
  const { earlier } = found;
  const [tail, earlierTail] = await Promise.all(
    [range, earlier.range].map((each) => readTotal(client, filters, each, quantiles)),
  );
  const lengths = sizesOfAsked(filters, all, tail?.requests ?? 0);
  const lengthsBefore = sizesOfAsked(filters, found.lengths, earlierTail?.requests ?? 0);
  if (lengths.length === 0 || lengthsBefore.length === 0) return without('some_requests', earlier);
  if (!sizesDiffer(facet, lengthsBefore, lengths)) return without('same_lengths', earlier);
  const error = sizeWeightsError(lengthsBefore, lengths);
  if (error === undefined) return without('not_measured', earlier);
  const parts = await readMix(client, parametersOf({ filters, range }));
  const weighted = atSizes(facet, lengthsBefore, lengths, parts);
  return {
    earlier,
    rows: quantiles.map((q, i) => {
      const atLengthsMs = weighted === undefined ? null : weightedQuantile(weighted, q);
      const [now, before] = [tail?.quantiles[i], earlierTail?.quantiles[i]];
      return tailAtLengths({ q, now, before, atLengthsMs, error, name: earlier.name });
    }),
  };
}

type Quantile = { readonly ms: number | null; readonly at_least: boolean } | undefined;

interface Measured {
  readonly q: number;
  readonly now: Quantile;
  readonly before: Quantile;
  /** Null where it is of too few effective requests. */
  readonly atLengthsMs: number | null;
  readonly error: number;
  readonly name: string;
}

/** A quantile as it is shown: where other lengths change it by more than the error of the weights. */
export function tailAtLengths({ q, now, before, error, name, ...at }: Measured): TailAtLengths {
  const { atLengthsMs: at_lengths_ms } = at;
  const ms = now?.ms ?? null;
  if (q < measured.least || q > measured.most) return unshown(q, 'not_measured');
  if (now?.at_least === true) return unshown(q, 'given_up');
  if (ms === null || at_lengths_ms === null) return unshown(q, 'too_few_requests');
  if (Math.abs(at_lengths_ms / ms - 1) <= error) return unshown(q, 'within_error');
  const earlier_ms = before?.at_least === true ? null : (before?.ms ?? null);
  const shown = { q, ms, at_lengths_ms, earlier_ms };
  return { ...shown, error, text: atLengthsText(shown, name), reason: null };
}

function unshown(q: number, reason: Reason): TailAtLengths {
  return { q, ms: null, at_lengths_ms: null, earlier_ms: null, error: null, text: null, reason };
}

/** "p99 of total is 6,100 ms; with answers as long as a week earlier it would be 4,400 ms (then it was 4,200 ms)." */
function atLengthsText(
  {
    q,
    ms,
    at_lengths_ms,
    earlier_ms,
  }: {
    readonly q: number;
    readonly ms: number;
    readonly at_lengths_ms: number;
    readonly earlier_ms: number | null;
  },
  name: string,
): string {
  const format = formatMsOf(ms, at_lengths_ms, earlier_ms ?? 0);
  const then = earlier_ms === null ? '' : ` (then it was ${format(earlier_ms)})`;
  return `${quantileName(q)} of total is ${format(ms)}; with answers as long as ${name} it would be ${format(at_lengths_ms)}${then}.`;
}

async function firstWithLengths(
  client: ClickHouseClient,
  filters: Filters,
  times: readonly Earlier[],
): Promise<{ readonly earlier: Earlier; readonly lengths: readonly SizePart[] } | undefined> {
  for (const earlier of times) {
    const lengths = await readLengths(client, filters, earlier.range);
    if (lengths.length > 0) return { earlier, lengths };
  }
  return undefined;
}

/** Facets are stored by the minute. */
function readLengths(
  client: ClickHouseClient,
  { model, version }: Filters,
  { fromSeconds, toSeconds }: TimeRange,
) {
  return readFacets(client, {
    ...{ model, version, facets: [facet], levels: [] },
    fromSeconds: Math.floor(fromSeconds / minuteSeconds) * minuteSeconds,
    toSeconds: Math.ceil(toSeconds / minuteSeconds) * minuteSeconds,
  });
}

async function readTotal(
  client: ClickHouseClient,
  filters: Filters,
  range: TimeRange,
  quantiles: readonly number[],
) {
  const { rows } = await rangeTails(client, {
    ...{ filters, range, quantiles, stage: totalStage, by: 'stage' },
  });
  return rows[0];
}
