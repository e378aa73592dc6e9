/** The state of a dashboard: its range, the step of a panel, and the values that are chosen. */
export interface GrafanaState {
  readonly fromMs: number;
  readonly toMs: number;
  readonly intervalSeconds: number;
  /** Values of variables; `$__all` where all are chosen. */
  readonly variables: Readonly<Record<string, string | readonly string[]>>;
}

/**
 * Writes a query of a panel as Grafana and its ClickHouse plugin send it: first `$__conditionalAll`, then
 * variables, then macros (plugin 4.20: src/data/CHDatasource.ts, pkg/macros/macros.go).
 *
 * @throws RangeError at a variable or macro that is unknown: Grafana would send it as it is.
 */
export function grafanaQuery(rawSql: string, state: GrafanaState): string {
  const query = withMacros(withVariables(withConditions(rawSql, state), state), state);
  const unknown = /\$(?:__\w+|\{[^}]*\}|\w+)/.exec(query)?.[0];
  if (unknown !== undefined) throw new RangeError(`Grafana does not know ${unknown} of: ${rawSql}`);
  return query;
}

/** `$__conditionalAll(condition, $variable)` is `1=1` where all values are chosen, or the empty one. */
function withConditions(text: string, { variables }: GrafanaState): string {
  const macro = '$__conditionalAll(';
  const start = text.lastIndexOf(macro);
  if (start === -1) return text;
  const { args, end } = argumentsAt(text, start + macro.length);
  const [condition = '', variable = ''] = args;
  const name = /^\$\{?(\w+)\}?$/.exec(variable.trim())?.[1] ?? '';
  const value = variables[name];
  if (args.length !== 2 || value === undefined) throw new RangeError(`not a variable: ${variable}`);
  const isAll = ['', '$__all'].includes(String(value));
  const rest = text.slice(0, start) + (isAll ? '1=1' : condition) + text.slice(end);
  return withConditions(rest, { variables } as GrafanaState);
}

/** Arguments of a call, by the commas that are in no parentheses. */
function argumentsAt(text: string, from: number): { args: string[]; end: number } {
  const args: string[] = [];
  let depth = 1;
  let begun = from;
  for (let at = from; at < text.length; at++) {
    const character = text[at];
    if (character === '(') depth++;
    if (character === ')') depth--;
    if (depth === 0 || (character === ',' && depth === 1)) {
      args.push(text.slice(begun, at));
      begun = at + 1;
    }
    if (depth === 0) return { args, end: at + 1 };
  }
  throw new RangeError(`a macro is not closed: ${text.slice(from)}`);
}

const formats: Readonly<Record<string, (values: readonly string[]) => string>> = {
  // Grafana escapes quotes, and no backslashes.
  singlequote: (values) => values.map((value) => `'${value.replaceAll("'", "\\'")}'`).join(','),
  csv: (values) => values.join(','),
  raw: (values) => values.join(','),
};

function withVariables(text: string, { variables }: GrafanaState): string {
  return text.replaceAll(/\$\{(\w+)(?::(\w+))?\}/g, (whole, name: string, format = 'raw') => {
    const value = variables[name];
    const write = formats[format];
    if (value === undefined || write === undefined) return whole;
    return write(typeof value === 'string' ? [value] : value);
  });
}

function withMacros(text: string, { fromMs, toMs, intervalSeconds }: GrafanaState): string {
  const seconds = Math.max(1, Math.trunc(intervalSeconds));
  const at = (ms: number) => `toDateTime(${Math.floor(ms / 1_000)})`;
  return text
    .replaceAll(/\$__fromTime\b/g, at(fromMs))
    .replaceAll(/\$__toTime\b/g, at(toMs))
    .replaceAll(
      /\$__timeFilter\((\w+)\)/g,
      (_, column) => `${column} >= ${at(fromMs)} AND ${column} <= ${at(toMs)}`,
    )
    .replaceAll(
      /\$__timeInterval\((\w+)\)/g,
      (_, column) => `toStartOfInterval(toDateTime(${column}), INTERVAL ${seconds} second)`,
    )
    .replaceAll(/\$__interval_s\b/g, String(seconds));
}
