import type { Io } from '../io.ts';
import { colorsOf } from './colors.ts';

/** One line of `check` and `doctor`. */
export interface ReportLine {
  readonly level: 'ok' | 'warn' | 'fail';
  readonly what: string;
  readonly detail: string;
  /** The fix. */
  readonly hint?: string | undefined;
}

/** `ok    Kafka topics: inference.timings.v1`, with the fix on a separate line. */
export function printReportLine(line: ReportLine, io: Pick<Io, 'out' | 'color'>): void {
  const { bold, dim, green, red, yellow } = colorsOf(io);
  const paint = { ok: green, warn: yellow, fail: red }[line.level];
  io.out(`${paint(line.level.padEnd(4))}  ${bold(line.what)}: ${line.detail}\n`);
  if (line.hint !== undefined) io.out(`      ${dim(line.hint)}\n`);
}
