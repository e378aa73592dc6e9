import { CensoredDigest } from '../../src/sketch/censored-digest.ts';
import { digestBits, shortMs } from '../../src/sketch/short-ms.ts';
import { SketchPool, stateCentroids } from '../../src/sketch/sketch-pool.ts';
import { TDigest } from '../../src/sketch/t-digest.ts';
import { mulberry32, SeededRandom } from '../base/seeded-random.ts';
import { clickhouseMerge } from './clickhouse-merge.ts';
import { KaplanMeier, leastQuantile, type Observed } from './kaplan-meier.ts';

export const oneLimit: readonly number[] = [60_000];
export const fiveLimits: readonly number[] = [500, 2_000, 8_000, 20_000, 60_000];
export const checkedQuantiles = [0.5, 0.9, 0.95, 0.99, 0.999] as const;

/**
 * Requests that are given up:
 *
 *     hang, short   some hang until their limit; the others end within 9.1 s
 *     hang, long    some hang until their limit; the others have a long tail, beyond each limit
 *     slow          a long tail, given up where it reaches the limit
 */
export const kindsOfRequests = ['hang, short', 'hang, long', 'slow'] as const;
export type KindOfRequests = (typeof kindsOfRequests)[number];

export interface Drawn {
  readonly kind: KindOfRequests;
  readonly limits: readonly number[];
  /** Share of the requests that is given up. */
  readonly share: number;
  readonly count: number;
}

export function drawRequests({ kind, limits, share, count }: Drawn, seed: number): Observed[] {
  const random = new SeededRandom(seed, mulberry32);
  const drawn = Array.from({ length: count }, () => ({
    ms:
      kind === 'hang, short'
        ? Math.min(1_000 * Math.exp(0.8 * random.normal()), 9_000 + 100 * random.unit())
        : 1_000 * Math.exp(1.1 * random.normal()) * (random.chance(0.03) ? 8 : 1),
    limitMs: limits[Math.floor(random.unit() * limits.length)] as number,
    chance: random.unit(),
  }));
  const reaches = ({ ms, limitMs }: (typeof drawn)[0]) => kind !== 'slow' || ms > limitMs;
  const reaching = drawn.filter(reaches).length / count;
  return drawn.map((request) => {
    const isCensored = reaches(request) && request.chance < share / reaching;
    return { ms: isCensored ? request.limitMs : request.ms, isCensored };
  });
}

/** Requests as so many rows, each of every part of the time. */
export function rowsOf(observed: readonly Observed[], rows: number): Observed[][] {
  return Array.from({ length: rows }, (_, row) => observed.filter((_, i) => i % rows === row));
}

const all = new SketchPool();
const censored = new SketchPool();
const means = new Float64Array(stateCentroids);
const weights = new Float64Array(stateCentroids);

const digest = (n: number, round: (ms: number) => number) =>
  TDigest.fromCentroids(means.subarray(0, n).map(round), weights, n);
const short = (ms: number) => shortMs(ms, digestBits);

/** The digests of a row by the write side, as they are stored. */
function storedRow(row: readonly Observed[], phase: number) {
  all.reset();
  censored.reset();
  const [slot, part] = [all.allocate(), censored.allocate()];
  for (const { ms, isCensored } of row) {
    all.add(slot, ms);
    if (isCensored) censored.add(part, ms);
  }
  const latency = digest(all.centroids(slot, means, weights, phase), short);
  const given = digest(censored.spikes(part, means, weights, phase), Math.fround);
  const ended = all.centroidsWithout(slot, censored, part, means, weights, phase);
  return { latency, given, ended: given.size === 0 ? latency : digest(ended, short) };
}

/** Rows as ClickHouse merges them; `isMixed`: as before migration 0026, without the digests of those that ended. */
export function mergedRows(rows: readonly (readonly Observed[])[], isMixed = false) {
  const stored = rows.map((row, i) => storedRow(row, 1 - ((i * 0.618034) % 1)));
  const given = clickhouseMerge(stored.map((row) => row.given));
  const ended = clickhouseMerge(stored.map((row) => (isMixed ? row.latency : row.ended)));
  return new CensoredDigest(ended, given, isMixed ? given : undefined);
}

export interface QuantileError {
  /** Error of a value as a share of it; of a bound, of the bound. */
  readonly value: number;
  /** Error of a rank as a share of the tail, where the value is more than 1 % off; 0 of a bound. */
  readonly rank: number;
  readonly isBound: boolean;
  /** A value where the textbook has a bound, or the other way round. */
  readonly isOtherKind: boolean;
}

/** Errors at `checkedQuantiles`, against the textbook on raw durations. */
export function errorsOf(
  observed: readonly Observed[],
  digest: Pick<CensoredDigest, 'quantile'>,
): QuantileError[] {
  const textbook = new KaplanMeier(observed);
  return checkedQuantiles.map((q) => {
    const exact = textbook.quantile(q);
    const { ms, isAtLeast } = digest.quantile(q);
    const isBound = exact === undefined;
    const value = Math.abs(ms / (exact ?? leastBound(observed, q)) - 1);
    const isOtherKind = isAtLeast !== isBound;
    if (isBound || value <= 0.01) return { value, rank: 0, isBound, isOtherKind };
    const tail = 1 - q;
    const tooLow = textbook.outlasting(1.01 * ms) / tail - 1;
    const tooHigh = 1 - textbook.outlasting(0.99 * ms) / tail;
    return { value, rank: Math.max(0, tooLow, tooHigh), isBound, isOtherKind };
  });
}

function leastBound(observed: readonly Observed[], q: number): number {
  let longest = 0;
  for (const { ms, isCensored } of observed) if (!isCensored) longest = Math.max(longest, ms);
  return Math.max(longest, leastQuantile(observed, q));
}
