/** A ClickHouse string literal. Backslash and quote are the only characters it must escape. */
export function quoteSql(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
