/** Two significant digits at most: "4.8 %", "0.021 %", "100 %". */
export function formatShare(share: number): string {
  const percent = share * 100;
  if (percent >= 99.95) return '100 %';
  return `${Number(percent.toPrecision(percent >= 99 ? 3 : 2))} %`;
}
