const double = new Float64Array(1);
const words = new Uint32Array(double.buffer);
/** Index of a double's upper 32-bit word on this machine. */
export const highIndex = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1 ? 1 : 0;

/**
 * Upper 32 bits of a double (IEEE 754 binary64): sign, 11 bits of exponent, the top 20 of the mantissa. It
 * grows with values >= 0, so its leading bits number logarithmic buckets without a logarithm. -0 counts as 0.
 * Cost: about 1 ns.
 */
export function highWord(value: number): number {
  double[0] = value + 0;
  return words[highIndex] as number;
}
