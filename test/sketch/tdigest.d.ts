/** The used part of npm `tdigest`, the oracle and the peer of the benchmark. */
declare module 'tdigest' {
  export class TDigest {
    /** `delta` bounds the centroids, `K` times 1/delta triggers compression, `CX` recumulation. */
    constructor(delta?: number, K?: number, CX?: number);
    /** Number of values. */
    n: number;
    push(value: number | readonly number[], weight?: number): void;
    push_centroid(centroid: readonly { mean: number; n: number }[]): void;
    percentile(q: number): number | undefined;
    compress(): void;
    size(): number;
    toArray(): { mean: number; n: number }[];
  }
}
