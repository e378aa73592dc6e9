import { type BoundedQuantile, CensoredDigest } from '../../sketch/censored-digest.ts';
import { decodeState } from '../../sketch/clickhouse-state.ts';
import type { TDigest } from '../../sketch/t-digest.ts';

/** Columns of queries beside the quantiles of all durations. Where no request is censored the digests are ''. */
export interface CensoredColumns {
  /** Requests that were given up. */
  readonly censored: string | number;
  /** Digest of the durations of requests that ended, in base64. */
  readonly ended_digest: string;
  /** Digest of the censored durations. */
  readonly censored_digest: string;
  /** Those of them that are among `ended_digest`: `mixed` of `CensoredDigest`. */
  readonly mixed_digest: string;
}

/** Least and largest duration of a row; null without any. */
export interface Extremes {
  readonly min_ms: string | number | null;
  readonly max_ms: string | number | null;
}

/**
 * Quantiles of a row of a query as they are shown: each answer, page and command has them from here. Without
 * censored requests they are those of ClickHouse. Cost with them: 20 µs to decode some hundred centroids.
 *
 * @param levels quantiles in [0, 1].
 * @param allMs quantiles of all durations at these levels, as ClickHouse has computed them; fewer without requests.
 */
export function boundedQuantiles(
  levels: readonly number[],
  allMs: readonly (number | null | undefined)[],
  row: CensoredColumns & Extremes,
): readonly (BoundedQuantile | undefined)[] {
  const { min_ms, max_ms } = row;
  // Quantiles are of 32 bits, and leave the range of the values by their rounding alone.
  const within = (ms: number) =>
    min_ms === null || max_ms === null
      ? ms
      : Math.min(Math.max(ms, Number(min_ms)), Number(max_ms));
  if (Number(row.censored) === 0 || row.ended_digest === '') {
    return levels.map((_, i) => {
      const ms = allMs[i];
      return ms == null ? undefined : { ms: within(ms), isAtLeast: false };
    });
  }
  const [ended, censored, mixed] = [row.ended_digest, row.censored_digest, row.mixed_digest].map(
    (base64) => decodeState(Buffer.from(base64, 'base64')).digest,
  ) as [TDigest, TDigest, TDigest];
  const digest = new CensoredDigest(ended, censored, mixed);
  return levels.map((q) => {
    const { ms, isAtLeast } = digest.quantile(q);
    return { ms: within(ms), isAtLeast };
  });
}
