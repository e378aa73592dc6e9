import type { FacetRow } from '../../data/answers.ts';
import { isHollow } from '../../format/number.ts';

/** The values of one facet, in the order they are shown in. */
export interface FacetGroup {
  readonly facet: string;
  readonly rows: readonly FacetRow[];
}

/** The facet whose values differ most. */
export interface FacetSpread {
  readonly facet: string;
  readonly fastest: FacetRow;
  readonly slowest: FacetRow;
  readonly lowMs: number;
  readonly highMs: number;
}

/** Values with fewer of a facet's requests than this say nothing of the model. */
const leastShare = 0.01;
/** Bands are up to 25 % wide on either side: less is no difference. */
const leastRatio = 1.6;

/** Lengths of prompts and answers: they say most of a request that has them. */
const firstFacets = ['input_tokens', 'output_tokens'];

/** The rows of each facet, tokens first. Sizes go up, hosts and other names go from the slowest on. */
export function facetGroups(rows: readonly FacetRow[]): FacetGroup[] {
  const all = [...new Set(rows.map(({ facet }) => facet))];
  const first = firstFacets.filter((facet) => all.includes(facet));
  const names = [...first, ...all.filter((facet) => !first.includes(facet))];
  return names.map((facet) => {
    const own = rows.filter((row) => row.facet === facet);
    const isSize = own.every(({ value }) => sizeOf(value) !== undefined);
    return {
      facet,
      rows: own.toSorted((x, y) =>
        isSize
          ? (sizeOf(x.value) ?? 0) - (sizeOf(y.value) ?? 0)
          : (lastMs(y) ?? 0) - (lastMs(x) ?? 0) || x.value.localeCompare(y.value),
      ),
    };
  });
}

/** The facet whose slowest value is the most times its fastest; undefined where none differs clearly. */
export function largestSpread(groups: readonly FacetGroup[]): FacetSpread | undefined {
  let largest: FacetSpread | undefined;
  for (const { facet, rows } of groups) {
    const all = rows.reduce((sum, { requests }) => sum + requests, 0);
    const counted = rows
      .filter(({ requests, quantiles }) => {
        const q = quantiles.at(-1)?.q ?? 1;
        return requests >= leastShare * all && !isHollow(q, requests);
      })
      .flatMap((row) => {
        const ms = lastMs(row);
        return ms === null || ms <= 0 ? [] : [{ row, ms }];
      })
      .sort((x, y) => x.ms - y.ms);
    const [first, last] = [counted[0], counted.at(-1)];
    if (first === undefined || last === undefined) continue;
    const ratio = last.ms / first.ms;
    if (ratio < leastRatio) continue;
    if (largest !== undefined && ratio <= largest.highMs / largest.lowMs) continue;
    largest = { facet, fastest: first.row, slowest: last.row, lowMs: first.ms, highMs: last.ms };
  }
  return largest;
}

/** Low edge of a bucket such as `512-1023`, or its only value; undefined of a name. */
function sizeOf(value: string): number | undefined {
  const match = /^(\d+)(?:-\d+)?$/.exec(value);
  return match === null ? undefined : Number(match[1]);
}

const lastMs = (row: FacetRow) => row.quantiles.at(-1)?.ms ?? null;
