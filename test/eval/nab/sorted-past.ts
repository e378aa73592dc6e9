/**
 * All numbers so far, in order, to ask how unusual one is. Memory: 8 bytes each. Taking one costs a search
 * and a move of what is above it: fine for some ten thousand, which is why this serves evaluation only.
 */
export class SortedPast {
  readonly #values: number[] = [];

  /** -ln of the chance to be as high: by rank; of the highest hundredth by the power of the distance. */
  surprise(value: number): number {
    const { length } = this.#values;
    if (length < leastPast) return 0;
    const high = this.#values[Math.min(length - 1, Math.floor(tail * length))] as number;
    if (value <= high) return -Math.log((length - this.#rank(value) + 0.5) / (length + 1));
    const median = this.#values[length >> 1] as number;
    const scale = Math.max(high - median, 1e-9 * high, 1e-12);
    return Math.min(most, -Math.log(1 - tail) * (1 + Math.log((value - median) / scale)));
  }

  take(value: number): void {
    this.#values.splice(this.#rank(value), 0, value);
  }

  /** How many are lower. */
  #rank(value: number): number {
    let low = 0;
    let high = this.#values.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#values[middle] as number) < value) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

const leastPast = 31;
/** From this quantile on ranks say too little. */
const tail = 0.99;
const most = 40;
