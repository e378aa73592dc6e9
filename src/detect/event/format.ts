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

/** "51/s", "0.84/s"; lower rates per minute, "12/min", or per hour, "3/h". */
export function formatPerSecond(perSecond: number): string {
  if (perSecond === 0) return '0/s';
  const [value, unit] =
    perSecond >= 0.5
      ? [perSecond, 's']
      : perSecond * 60 >= 0.5
        ? [perSecond * 60, 'min']
        : [perSecond * 3600, 'h'];
  return `${Number(value.toPrecision(value >= 100 ? 3 : 2)).toLocaleString('en-US')}/${unit}`;
}

/** "45 s", "12 min", "3 h 20 min", "2 d 3 h", "7 d". */
export function durationText(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 120) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  const [whole, rest] =
    hours < 48
      ? [`${hours} h`, `${minutes % 60} min`]
      : [`${Math.floor(hours / 24)} d`, `${hours % 24} h`];
  return rest.startsWith('0 ') ? whole : `${whole} ${rest}`;
}
