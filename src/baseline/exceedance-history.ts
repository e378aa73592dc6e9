/** What one window counted against its threshold. */
export interface ExceedanceCount {
  /** Exceedances minus their expectation. */
  readonly excess: number;
  /** Binomial variance n p (1 - p). */
  readonly variance: number;
  readonly requests: number;
}

/** Before any window is known a series is taken to be this over-dispersed. */
const priorDispersion = 4;
/** The prior weighs as much as this many observations. */
const priorWeight = 20;
/** Share of the largest observations that are cut to the next smaller one: lone outliers. */
const trimmedShare = 0.02;

/**
 * The past of one test (a series, stage and quantile): how far its windows' exceedances lay from
 * what their own baseline had foretold. Its Pearson dispersion is how much more a window may vary
 * than independent requests would.
 *
 * Memory: 12 bytes a window, at most `capacity` windows.
 */
export class ExceedanceHistory {
  readonly #capacity: number;
  readonly #excess: Float32Array;
  readonly #variance: Float32Array;
  readonly #requests: Float32Array;
  #added = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
    this.#excess = new Float32Array(capacity);
    this.#variance = new Float32Array(capacity);
    this.#requests = new Float32Array(capacity);
  }

  get size(): number {
    return Math.min(this.#added, this.#capacity);
  }

  add(count: ExceedanceCount): void {
    const slot = this.#added % this.#capacity;
    this.#excess[slot] = count.excess;
    this.#variance[slot] = count.variance;
    this.#requests[slot] = count.requests;
    this.#added += 1;
  }

  /** Mean requests of a window. */
  meanRequests(): number {
    if (this.size === 0) return 0;
    let sum = 0;
    for (let i = 0; i < this.size; i++) sum += this.#requests[i] as number;
    return sum / this.size;
  }

  /**
   * Dispersion of sums over `windows` consecutive windows, at least 1: the mean of squared Pearson
   * residuals, its largest 2 % cut to the next, shrunk towards a cautious prior, and raised by two
   * standard errors, since an estimate that is too low pages. Windows whose rates move together
   * show in the longer sums. Cost: O(size log size); callers keep the result for a while.
   */
  dispersion(windows: number): number {
    const squares = this.#squaredResiduals(windows).sort((x, y) => x - y);
    const count = squares.length;
    const trimmed = Math.ceil(count * trimmedShare);
    const cap = count > trimmed ? (squares[count - trimmed - 1] as number) : 0;
    let sum = priorDispersion * priorWeight;
    for (let i = 0; i < count; i++) sum += i < count - trimmed ? (squares[i] as number) : cap;
    const weight = priorWeight + count;
    return Math.max(1, (sum / weight) * (1 + 2 * Math.sqrt(2 / weight)));
  }

  #squaredResiduals(windows: number): Float64Array {
    const size = this.size;
    const groups = Math.floor(size / windows);
    const squares = new Float64Array(groups);
    const oldest = this.#added - groups * windows;
    for (let group = 0; group < groups; group++) {
      let excess = 0;
      let variance = 0;
      for (let i = 0; i < windows; i++) {
        const slot = (oldest + group * windows + i) % this.#capacity;
        excess += this.#excess[slot] as number;
        variance += this.#variance[slot] as number;
      }
      squares[group] = variance > 0 ? (excess * excess) / variance : 0;
    }
    return squares;
  }
}
