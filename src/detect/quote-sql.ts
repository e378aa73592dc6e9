import type { Dimension } from '../base/dimensions.ts';
import type { Series } from '../baseline/series-window.ts';

/** A ClickHouse string literal. Backslash and quote are the only characters it must escape. */
export function quoteSql(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}

/** "region = 'eu-west-1'", as a series has it. */
export function dimensionSql(series: Series, dimension: Dimension): string {
  const value = series[dimension];
  return `${dimension} = ${typeof value === 'boolean' ? value : quoteSql(value)}`;
}

export function timeSql(ms: number): string {
  return `toDateTime(${Math.floor(ms / 1000)}, 'UTC')`;
}
