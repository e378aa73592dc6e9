import type {
  NamedComparison,
  QuantileComparison,
  StageComparison,
  Verdict,
} from '../../compare/comparison.ts';
import { incidentIsOpen, notLikeWithLike } from '../../contract/compared-times.ts';
import { formatMs, quantileName, wholePercent } from '../../contract/format.ts';
import { goodputOfSide, thresholdsText } from '../../contract/objectives/objective-text.ts';
import type { ComparedGoodput } from '../../views/answers/compare.ts';
import { visible } from '../../views/text/format.ts';
import type { Io } from '../io.ts';
import { colorsOf } from './colors.ts';
import { MarkedPercentiles } from './few-requests.ts';
import { annotation, markdownText } from './github-output.ts';
import { renderTable, right, type TableCell } from './table.ts';

/** A comparison, and the goodput of both sides where there are joint objectives. */
export type ShownComparison = NamedComparison & { readonly goodput?: readonly ComparedGoodput[] };

type Milliseconds = Pick<QuantileComparison, 'candidate_ms' | 'baseline_ms'>;

/** Quantile by which stages are shown. */
const stageQuantile = 0.99;

/** Renders a comparison for a terminal: a table of quantiles, one of stages, and the verdict. */
export function renderComparison(
  compared: ShownComparison,
  io: Pick<Io, 'color' | 'columnCount'>,
): string {
  const { bold, dim, green, red, yellow } = colorsOf(io);
  const { version, baseline, verdict, reason, minutes, requests } = compared;
  const paint = { pass: green, fail: red, inconclusive: yellow }[verdict];
  const table = (columns: Parameters<typeof renderTable>[0]['columns'], rows: TableCell[][]) =>
    renderTable({ columns, rows, color: io.color, maxWidth: io.columnCount });
  const count = (n: number) => n.toLocaleString('en-US');
  const percentiles = new MarkedPercentiles(io);
  const cells = (q: number, at: Milliseconds | undefined) => [
    percentiles.cell(q, at?.candidate_ms ?? Number.NaN, requests.candidate),
    percentiles.cell(q, at?.baseline_ms ?? Number.NaN, requests.baseline),
  ];
  const quantiles = compared.quantiles.map((at) => [
    ...[quantileName(at.q), ...cells(at.q, at)],
    ...[{ text: ratioText(at.ratio), style: bold }, intervalText(at)],
  ]);
  const failures = [
    ...['failed', shareText(compared.failures.candidate_share)],
    shareText(compared.failures.baseline_share),
  ];
  const stages = compared.stages.map((stage) => {
    const at = atQuantile(stage);
    const share = stage.share_of_excess;
    return [
      visible(stage.stage),
      ...cells(stageQuantile, at),
      ...[{ text: ratioText(at?.ratio ?? null), style: bold }, at ? intervalText(at) : '–'],
      share === null ? '–' : wholePercent(share),
    ];
  });
  const columns = [`B ${version}`, `A ${baseline}`, 'ratio', 'interval'];
  const time = `${count(minutes)} ${minutes === 1 ? 'minute' : 'minutes'} of both`;
  const whole = `${count(requests.candidate)} and ${count(requests.baseline)} requests in ${time}`;
  return [
    table(['total', ...right(...columns.map(visible))], [...quantiles, failures]),
    ...(stages.length === 0
      ? []
      : ['\n', table(['p99 of stage', ...right(...columns.map(visible), 'of the rise')], stages)]),
    percentiles.line(),
    dim(`${whole}\n`),
    ...incidentLines(compared),
    ...[...goodputLines(compared), ...mixLines(compared)].map((line) => `${visible(line)}\n`),
    `\n${paint(verdict)}  ${bold(visible(`${compared.model}: ${reason}`))}\n`,
  ].join('');
}

/** What A is beside an incident, and that an open one goes on. */
function incidentLines({ incident }: NamedComparison): string[] {
  if (incident === undefined) return [];
  return [`A is ${incident.a_is}.\n`, ...(incident.is_open ? [`${incidentIsOpen}\n`] : [])];
}

/** "Goodput of B 91 % of 4,100 requests, of A 97.3 % of 4,000 requests: first_token 500 ms, total 10 s". */
function goodputLines({ goodput = [] }: ShownComparison): string[] {
  return goodput.map(({ thresholds, a, b }) => {
    const of = Object.fromEntries(thresholds.map(({ stage, ms }) => [stage, ms]));
    return `Goodput of B ${goodputOfSide(b)}, of A ${goodputOfSide(a)}: ${thresholdsText(of)}`;
  });
}

/** Quantiles that are shown like with like. */
const mixQuantiles: readonly number[] = [0.5, 0.95, 0.99];

/** In what requests B differs from A, and its quantiles with the mix of A beside those as they are. */
function mixLines({ mix, like_with_like, quantiles }: NamedComparison): string[] {
  if (mix.length === 0) return [];
  const parts = (like_with_like ?? [])
    .filter(({ q }) => mixQuantiles.includes(q))
    .map(({ q, candidate_ms, ratio }) => {
      const asIs = quantiles.find((at) => at.q === q);
      const measured = `${ms(asIs?.candidate_ms ?? null)}, ${ratioText(asIs?.ratio ?? null)}`;
      return `${quantileName(q)} ${ms(candidate_ms)}, ${ratioText(ratio)} (measured ${measured})`;
    });
  return [
    notLikeWithLike,
    ...mix.map((sentence) => `  ${sentence}`),
    parts.length === 0
      ? 'They have nothing in common by which B could be weighted.'
      : `With the requests of A, B would have ${parts.join('; ')}.`,
  ];
}

export const verdictLevels = { pass: 'notice', fail: 'error', inconclusive: 'warning' } as const;

/** The verdict as an annotation of a GitHub workflow. */
export function comparisonAnnotation({ model, version, verdict, reason }: NamedComparison): string {
  return annotation(
    verdictLevels[verdict],
    `${verdictTitles[verdict]}: ${model} ${version}`,
    reason,
  );
}

export const verdictTitles: Readonly<Record<Verdict, string>> = {
  pass: 'Release passes',
  fail: 'Release fails',
  inconclusive: 'No verdict yet',
};

/** The comparison in Markdown, for the summary of a workflow. Names are shown as text. */
export function comparisonMarkdown(compared: ShownComparison): string {
  const { model, version, baseline, verdict, reason, requests, failures } = compared;
  const [now, before] = [markdownText(version), markdownText(baseline)];
  const percentiles = new MarkedPercentiles({ color: false });
  const cells = (q: number, at: Milliseconds | undefined) =>
    [
      percentiles.text(q, at?.candidate_ms ?? Number.NaN, requests.candidate),
      percentiles.text(q, at?.baseline_ms ?? Number.NaN, requests.baseline),
    ].map(markdownText);
  const quantiles = compared.quantiles.map((at) => [
    ...[quantileName(at.q), ...cells(at.q, at)],
    ...[ratioText(at.ratio), intervalText(at)],
  ]);
  const failed = [shareText(failures.candidate_share), shareText(failures.baseline_share)];
  const stages = compared.stages.map((stage) => {
    const at = atQuantile(stage);
    return [
      ...[`p99 of ${markdownText(stage.stage)}`, ...cells(stageQuantile, at)],
      ...[ratioText(at?.ratio ?? null), at ? intervalText(at) : '–'],
    ];
  });
  const rows = [...quantiles, ['failed', ...failed, '', ''], ...stages];
  return [
    `### ${verdictTitles[verdict]}: ${markdownText(model)}, version ${now} against ${before}`,
    '',
    `${markdownText(reason)}`,
    '',
    `| | B ${now} | A ${before} | ratio | interval |`,
    '|---|---:|---:|---:|---:|',
    ...rows.map((cells) => `| ${cells.join(' | ')} |`),
    '',
    ...[percentiles.note()].filter(Boolean).flatMap((line) => [markdownText(line), '']),
    ...[...goodputLines(compared), ...mixLines(compared)].flatMap((line) => [
      markdownText(line.trim()),
      '',
    ]),
    '',
  ].join('\n');
}

function atQuantile({ quantiles }: StageComparison): QuantileComparison | undefined {
  return quantiles.find(({ q }) => q === stageQuantile);
}

function ms(value: number | null): string {
  return value === null ? '–' : formatMs(value);
}

function ratioText(ratio: number | null): string {
  return ratio === null ? '–' : `× ${ratio.toFixed(2)}`;
}

/** "0.92 to 1.31"; "–" where nothing is excluded. */
function intervalText({ ratio_low, ratio_high }: QuantileComparison): string {
  if (ratio_low === null && ratio_high === null) return '–';
  if (ratio_high === null) return `${ratio_low?.toFixed(2)} or more`;
  if (ratio_low === null) return `up to ${ratio_high.toFixed(2)}`;
  return `${ratio_low.toFixed(2)} to ${ratio_high.toFixed(2)}`;
}

function shareText(share: number): string {
  return `${(share * 100).toFixed(2)} %`;
}
