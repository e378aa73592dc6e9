/** "51 a second", "0.84 a second"; what is slower by the minute, "12 a minute", or by the hour. */
export function formatPerSecond(perSecond: number): string {
  if (perSecond === 0) return 'none';
  const [value, unit] =
    perSecond >= 0.5
      ? [perSecond, 'second']
      : perSecond * 60 >= 0.5
        ? [perSecond * 60, 'minute']
        : [perSecond * 3600, 'hour'];
  return `${Number(value.toPrecision(value >= 100 ? 3 : 2)).toLocaleString('en-US')} a ${unit}`;
}
