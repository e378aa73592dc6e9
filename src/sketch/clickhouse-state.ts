import { invariant } from '../base/invariant.ts';
import { OperatorError } from '../base/operator-error.ts';
import { PackedDigests } from './packed-digests.ts';
import type { TDigest } from './t-digest.ts';

/**
 * ClickHouse's state of quantilesTDigest in RowBinary: VarUInt n, then n times mean and weight as
 * little-endian Float32, without header or length. The quantiles of the column are not part of it. Source:
 * ClickHouse, src/AggregateFunctions/QuantileTDigest.h, `serialize` and `deserialize`.
 */
const centroidBytes = 8;
/** Largest weight: above it Float32 skips whole numbers, and requests would be lost. */
const maxExactWeight = 2 ** 24;
/** Maximum number of centroids that ClickHouse reads. */
const maxCentroidsRead = 65_536;
const maxCentroidsWritten = 1024;

/** Maximum bytes of a state that `encodeState` writes. */
export const maxStateBytes = 3 + maxCentroidsWritten * centroidBytes;

const float = new Float32Array(1);
const bits = new Uint32Array(float.buffer);
/** Scratch for a state being read. */
let scratch = new Float32Array(128);
const single = new PackedDigests();

/**
 * Writes the first `n` centroids as a state at `at` and returns the position after it. Means are rounded to
 * Float32 (6e-8 of the value). Whole weights stay exact: one above 2^24 becomes several centroids of the same
 * mean. `out` needs room for `maxStateBytes`. Allocates nothing.
 */
export function encodeState(
  means: ArrayLike<number>,
  weights: ArrayLike<number>,
  n: number,
  out: Uint8Array,
  at: number,
): number {
  let centroids = 0;
  for (let i = 0; i < n; i++) centroids += Math.ceil((weights[i] as number) / maxExactWeight);
  invariant(centroids <= maxCentroidsWritten, `a state of ${centroids} centroids`);
  let to = at;
  let rest = centroids;
  for (; rest >= 0x80; rest >>>= 7) out[to++] = (rest & 0x7f) | 0x80;
  out[to++] = rest;
  invariant(to + centroids * centroidBytes <= out.length, 'no room for the state');
  for (let i = 0; i < n; i++) {
    const mean = means[i] as number;
    let weight = weights[i] as number;
    for (; weight > maxExactWeight; weight -= maxExactWeight) {
      to = writeFloat(writeFloat(to, mean, out), maxExactWeight, out);
    }
    to = writeFloat(writeFloat(to, mean, out), weight, out);
  }
  return to;
}

/** Reads one state as a separate digest; `next` is the position after it. */
export function decodeState(bytes: Uint8Array, at = 0): { digest: TDigest; next: number } {
  const next = readState(bytes, at, single);
  const [digest] = single.drain() as [TDigest];
  return { digest, next };
}

/**
 * Adds the state at `at` to digests, its centroids sorted, and returns the position after it.
 *
 * @throws OperatorError on what ClickHouse refuses too (more than 65,536 centroids, weights not above 0,
 * missing bytes), and on means that are not finite.
 */
export function readState(bytes: Uint8Array, at: number, digests: PackedDigests): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let n = 0;
  let from = at;
  for (let shift = 0; ; shift += 7) {
    if (from >= bytes.length) refuse('its length', 'be complete', `cut off at byte ${from}`);
    const byte = bytes[from++] as number;
    n += (byte & 0x7f) * 2 ** shift;
    if (n > maxCentroidsRead || shift > 14) refuse('its length', 'be at most 65536', `${n}`);
    if (byte < 0x80) break;
  }
  const next = from + n * centroidBytes;
  if (next > bytes.length) {
    refuse('its centroids', `take ${next - from} bytes`, `followed by ${bytes.length - from}`);
  }
  if (2 * n > scratch.length) scratch = new Float32Array(2 * n);
  const means = scratch.subarray(0, n);
  const weights = scratch.subarray(n, 2 * n);
  let isSorted = true;
  for (let i = 0; i < n; i++) {
    const mean = view.getFloat32(from + i * centroidBytes, true);
    const weight = view.getFloat32(from + i * centroidBytes + 4, true);
    if (!Number.isFinite(mean)) refuse(`mean ${i}`, 'be a finite number', `${mean}`);
    if (!(weight > 0 && weight < Infinity)) refuse(`weight ${i}`, 'be above 0', `${weight}`);
    if (i > 0 && mean < (means[i - 1] as number)) isSorted = false;
    means[i] = mean;
    weights[i] = weight;
  }
  if (!isSorted) sortByMean(means, weights);
  digests.add(means, weights);
  return next;
}

function writeFloat(at: number, value: number, out: Uint8Array): number {
  float[0] = value;
  const word = bits[0] as number;
  out[at] = word & 0xff;
  out[at + 1] = (word >>> 8) & 0xff;
  out[at + 2] = (word >>> 16) & 0xff;
  out[at + 3] = word >>> 24;
  return at + 4;
}

function sortByMean(means: Float32Array, weights: Float32Array): void {
  const order = Array.from(means.keys()).sort((a, b) => (means[a] ?? 0) - (means[b] ?? 0));
  means.set(order.map((i) => means[i] as number));
  weights.set(order.map((i) => weights[i] as number));
}

function refuse(field: string, rule: string, value: string): never {
  throw new OperatorError(
    'TAILMARK_CLICKHOUSE_FAILED',
    `Cannot decode a quantilesTDigest state as ${field} must ${rule}: it is ${value}`,
    { hint: 'Check that the column is AggregateFunction(quantilesTDigest(…), Float32).' },
  );
}
