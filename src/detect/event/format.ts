import type { Series } from '../../series/series-window.ts';

/** "ranker (search, eu-west-1)"; an empty model stands for all. */
export function seriesLabel(series: Series): string {
  const { service, version, request_type, region, tenant, host, cold_start } = series;
  const values = [service, version, request_type, region, tenant, host];
  const labels = values.filter((value) => value !== '');
  if (cold_start) labels.push('cold starts');
  const where = labels.length > 0 ? ` (${labels.join(', ')})` : '';
  return `${series.model === '' ? 'all models' : series.model}${where}`;
}

/** Two significant digits at most: "4.8 %", "0.021 %", "100 %". */
export function formatShare(share: number): string {
  const percent = share * 100;
  if (percent >= 99.95) return '100 %';
  return `${Number(percent.toPrecision(percent >= 99 ? 3 : 2))} %`;
}

/** "51 a second", "0.84 a second"; lower rates per minute, "12 a minute", or per hour. */
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
