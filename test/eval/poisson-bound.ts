/** Upper end of the exact 95 % interval of a Poisson mean of which `count` was seen (Garwood, 1936). */
export function poissonUpperBound(count: number): number {
  let low = count;
  let high = 2 * count + 20;
  for (let i = 0; i < 60; i++) {
    const mean = (low + high) / 2;
    if (atMost(count, mean) > 0.025) low = mean;
    else high = mean;
  }
  return low;
}

/** P(K <= count) of a Poisson variable. */
function atMost(count: number, mean: number): number {
  let term = Math.exp(-mean);
  let sum = term;
  for (let k = 1; k <= count; k++) {
    term *= mean / k;
    sum += term;
  }
  return sum;
}
