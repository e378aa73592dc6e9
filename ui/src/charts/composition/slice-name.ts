import type { SliceRow } from '../../data/answers.ts';
import { formatExactShare, formatMs, formatMsRange, formatShare } from '../../format/number.ts';

type Slice = Pick<SliceRow, 'from_share' | 'to_share' | 'above_ms' | 'below_ms'>;

/** Names a slice by what it is: "slowest 1.2 %", "fastest 52 %", "90 to 98.8 %". */
export function sliceName({ from_share: from, to_share: to, above_ms, below_ms }: Slice): string {
  if (below_ms === null && above_ms === null) return 'all requests';
  if (below_ms === null) return `slowest ${formatShare(1 - from)}`;
  if (above_ms === null) return `fastest ${edge(to)}`;
  return `${edge(from).replace(/\s*%$/, '')} to ${edge(to)}`;
}

/** Its edges: "above 304 ms", "below 41 ms", "41 to 78 ms". */
export function sliceEdges({ above_ms: above, below_ms: below }: Slice): string {
  if (above === null) return below === null ? '' : `below ${formatMs(below)}`;
  if (below === null) return `above ${formatMs(above)}`;
  return formatMsRange(above, below);
}

/** A share with as many digits as what is beyond it has: 52 %, 98.8 %, 99.91 %. */
const edge = (share: number) => formatExactShare(1 - Number((1 - share).toPrecision(2)));
