import type { SideValue, ValueComparisons } from '../../compare/verdict/by-value.ts';
import { formatRatio, quantileName } from '../../contract/format.ts';
import { valueText } from '../../series/value-text.ts';
import { visible } from '../../views/text/format.ts';
import type { Io } from '../io.ts';
import { colorsOf } from './colors.ts';
import { MarkedPercentiles } from './few-requests.ts';
import { annotation, markdownText } from './github-output.ts';
import { type ShownComparison, verdictLevels, verdictTitles } from './render-comparison.ts';
import { renderTable, right } from './table.ts';

/** Comparisons of the values of one dimension, and the model. */
export type ShownValues = ValueComparisons<ShownComparison> & { readonly model: string };

type OfValue = ShownValues['comparisons'][number];

/** Quantile by which values are shown. */
const shownQuantile = 0.99;

/** Renders the comparisons of values for a terminal: a row a value, what is left out, reasons, and the verdict. */
export function renderValues(shown: ShownValues, io: Pick<Io, 'color' | 'columnCount'>): string {
  const { bold, dim, green, red, yellow } = colorsOf(io);
  const paints = { pass: green, fail: red, inconclusive: yellow };
  const percentiles = new MarkedPercentiles(io);
  const count = (n: number) => n.toLocaleString('en-US');
  const at = ({ quantiles }: OfValue) => quantiles.find(({ q }) => q === shownQuantile);
  const p99 = quantileName(shownQuantile);
  const table = renderTable({
    columns: [shown.by, 'verdict', ...right('requests B', 'A', `${p99} B`, 'A', 'ratio')],
    rows: shown.comparisons.map((each) => {
      const { candidate_ms, baseline_ms, ratio } = { ...at(each) };
      const { candidate, baseline } = each.requests;
      return [
        visible(valueText(each.value)),
        { text: each.verdict, style: paints[each.verdict] },
        ...[count(candidate), count(baseline)],
        percentiles.cell(shownQuantile, candidate_ms ?? Number.NaN, candidate),
        percentiles.cell(shownQuantile, baseline_ms ?? Number.NaN, baseline),
        { text: ratio == null ? '–' : formatRatio(ratio), style: bold },
      ];
    }),
    color: io.color,
    maxWidth: io.columnCount,
  });
  return [
    ...(shown.comparisons.length === 0 ? [] : [table, percentiles.line()]),
    ...shown.comparisons.map((each) => `${visible(reasonLine(each))}\n`),
    ...leftOutLines(shown).map((line) => dim(`${visible(line)}\n`)),
    `\n${paints[shown.verdict](shown.verdict)}  ${bold(visible(`${shown.model}: ${shown.reason}`))}\n`,
  ].join('');
}

/** The verdict of all values as an annotation of a GitHub workflow. */
export function valuesAnnotation({ model, by, verdict, reason }: ShownValues): string {
  return annotation(verdictLevels[verdict], `${verdictTitles[verdict]}: ${model} by ${by}`, reason);
}

/** The comparisons in Markdown, for the summary of a workflow. Names are shown as text. */
export function valuesMarkdown(shown: ShownValues): string {
  const { model, by, verdict, reason, comparisons } = shown;
  return [
    `### ${verdictTitles[verdict]}: ${markdownText(model)} by ${markdownText(by)}`,
    '',
    markdownText(reason),
    '',
    `| ${markdownText(by)} | verdict | reason |`,
    '|---|---|---|',
    ...comparisons.map(
      (each) =>
        `| ${markdownText(valueText(each.value))} | ${each.verdict} | ${markdownText(each.reason)} |`,
    ),
    '',
    ...leftOutLines(shown).flatMap((line) => [markdownText(line), '']),
  ].join('\n');
}

/** "lora-3: p99 is 1.5 times that of version v1 (…)". */
function reasonLine({ value, reason }: OfValue): string {
  return `${valueText(value)}: ${reason}`;
}

/** "Not compared: lora-9 (12 requests of B, 0 of A), lora-7 (…) and 3 more." */
function leftOutLines({ left_out: { values, more } }: ShownValues): string[] {
  if (values.length === 0) return [];
  const named = values.map(sidesText).join(', ');
  return [
    `Not compared: ${named}${more === 0 ? '' : ` and ${more.toLocaleString('en-US')} more`}.`,
  ];
}

function sidesText({ value, requests: { candidate, baseline } }: SideValue): string {
  const count = (n: number) => n.toLocaleString('en-US');
  return `${valueText(value)} (${count(candidate)} requests of B, ${count(baseline)} of A)`;
}
