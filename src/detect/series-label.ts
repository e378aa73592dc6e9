import type { Series } from '../baseline/series-window.ts';

/** "ranker (search, eu-west-1)"; what is of all models is of none of them. */
export function seriesLabel(series: Series): string {
  const { service, version, request_type, region, tenant, host, cold_start } = series;
  const values = [service, version, request_type, region, tenant, host];
  const labels = values.filter((value) => value !== '');
  if (cold_start) labels.push('cold starts');
  const where = labels.length > 0 ? ` (${labels.join(', ')})` : '';
  return `${series.model === '' ? 'all models' : series.model}${where}`;
}
