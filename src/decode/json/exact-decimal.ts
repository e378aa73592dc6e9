/** Powers of ten that a double holds exactly. */
export const powersOfTen = Float64Array.from({ length: 23 }, (_, exponent) =>
  Number(`1e${exponent}`),
);
/** Veltkamp's constant, 2^27 + 1: splits a double into two halves of 26 bits. */
const SPLITTER = 134_217_729;
/** Bound above the error of the quotient's low part, which is below 2^-50 of it. */
const SAFETY = 1 + 2 ** -40;

/**
 * Double nearest to the decimal number >= 0 in `bytes[start, end)`, the same as by JSON.parse. Made for the
 * 16 to 19 digits that shortest-round-trip printers (Python, JavaScript, Go) write for a measured duration.
 *
 * Beyond 15 digits the mantissa is an unevaluated sum of two doubles. The division by the power of ten is
 * Dekker's ("A floating-point technique for extending the available precision", 1971). Its result counts only
 * where the error cannot change the rounding (Ziv's test). Otherwise, and with an exponent, a string and
 * Number decide.
 */
export function exactDecimal(bytes: Buffer, start: number, end: number): number {
  // Significant digits: up to eight, seven and four, each in an int32.
  let first = 0;
  let second = 0;
  let tail = 0;
  let digitCount = 0;
  let point = end;
  for (let i = start; i < end; i++) {
    const digit = (bytes[i] as number) ^ 0x30;
    if (digit > 9) {
      if (bytes[i] !== 0x2e) return numberOf(bytes, start, end);
      point = i;
    } else if (digitCount > 0 || digit > 0) {
      digitCount++;
      if (digitCount <= 8) first = (Math.imul(first, 10) + digit) | 0;
      else if (digitCount <= 15) second = (Math.imul(second, 10) + digit) | 0;
      else if (digitCount <= 19) tail = (Math.imul(tail, 10) + digit) | 0;
      else return numberOf(bytes, start, end);
    }
  }
  const fractionCount = point === end ? 0 : end - point - 1;
  if (fractionCount > 22) return numberOf(bytes, start, end);
  const secondCount = Math.min(7, Math.max(0, digitCount - 8));
  const head = first * (powersOfTen[secondCount] as number) + second;
  // One correctly rounded operation on exact doubles.
  if (digitCount <= 15) return head / (powersOfTen[fractionCount] as number);
  const tailCount = digitCount - 15;
  const quotient = divided(head, tail, tailCount, fractionCount);
  return Number.isNaN(quotient) ? numberOf(bytes, start, end) : quotient;
}

/** (head * 10^tailCount + tail) / 10^scale, correctly rounded; NaN in doubt. */
function divided(head: number, tail: number, tailCount: number, scale: number): number {
  const factor = powersOfTen[tailCount] as number;
  // Both parts are exact: the head has at most 50 bits, the factor 14.
  const upper = Math.floor(head / 0x4000000);
  const high = upper * factor * 0x4000000;
  const low = (head - upper * 0x4000000) * factor + tail;
  const m = high + low;
  const mRest = low - (m - high);
  const divisor = powersOfTen[scale] as number;
  const q = m / divisor;
  // The remainder m - q * divisor, exactly, by Dekker's product.
  const product = q * divisor;
  const qHigh = upperHalf(q);
  const qLow = q - qHigh;
  const dHigh = upperHalf(divisor);
  const dLow = divisor - dHigh;
  const productRest = qLow * dLow - (product - qHigh * dHigh - qLow * dHigh - qHigh * dLow);
  const rest = (m - product - productRest + mRest) / divisor;
  const sum = q + rest;
  const error = rest - (sum - q);
  return sum + error * SAFETY === sum ? sum : Number.NaN;
}

function upperHalf(value: number): number {
  const scaled = value * SPLITTER;
  return scaled - (scaled - value);
}

function numberOf(bytes: Buffer, start: number, end: number): number {
  return Number(bytes.toString('latin1', start, end));
}
