/** Copies an array to one of at least twice its length, and at least `needed`. */
export function grown(array: Int32Array, needed: number): Int32Array<ArrayBuffer>;
export function grown(array: Float64Array, needed: number): Float64Array<ArrayBuffer>;
export function grown(array: Int32Array | Float64Array, needed: number) {
  const length = Math.max(needed, array.length * 2);
  const bigger = array instanceof Int32Array ? new Int32Array(length) : new Float64Array(length);
  bigger.set(array);
  return bigger;
}
