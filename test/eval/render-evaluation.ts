import type { Evaluation, FalsePages, FaultsFound } from './evaluation.ts';
import { nullFamilies } from './null-families.ts';
import { rivalNames } from './rivals.ts';

/**
 * Renders the evaluation as Markdown tables: of traffic without faults, and with faults, where there was any.
 */
export function renderEvaluation(evaluation: Evaluation): string {
  const { families, allFamilies, kinds, allKinds, precision, evaluationsPerSecond } = evaluation;
  const number = (n: number) => (Number.isNaN(n) ? '–' : Number(n.toPrecision(3)).toString());
  const percent = (n: number) => (Number.isNaN(n) ? '–' : `${(n * 100).toFixed(1)} %`);
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const rule = (columns: number) => `|---|${'---:|'.repeat(columns - 1)}`;
  const says = new Map(nullFamilies.map(({ name, says: text }) => [name, `${name}: ${text}`]));
  const falseRow = (row: FalsePages) =>
    line([
      row.name === 'all' ? '**all**' : (says.get(row.name) ?? row.name),
      number(row.seriesWeeks),
      `${row.pages}`,
      number(row.perThousand),
      number(row.atMost),
      ...rivalNames.map((name) => number(row.rivals[name])),
    ]);
  const faultRow = (row: FaultsFound) =>
    line([
      row.name === 'all' ? '**all**' : row.name,
      `${row.faults}`,
      `${row.small}`,
      `${row.oracle}`,
      `${row.found}`,
      percent(row.recall),
      number(row.medianDelayMs / 1000),
      number(row.medianOverOracle),
      percent(row.blamed),
      number(row.pagesPerFault),
      number(row.resolvesPerPage),
      ...rivalNames.map((name) => percent(row.rivals[name])),
    ]);
  const falseHead = [
    'traffic with nothing wrong',
    'series-weeks',
    'false pages',
    'per 1,000 series-weeks',
    'at most (95 %)',
    ...rivalNames,
  ];
  const faultHead = [
    'fault',
    'faults',
    'too small to page',
    'oracle finds',
    'found',
    'recall of those',
    'median delay, s',
    'over the oracle’s',
    'stage blamed',
    'pages per fault',
    'resolves per page',
    ...rivalNames,
  ];
  const speed = `The detector evaluated ${Math.round(evaluationsPerSecond / 100) / 10} k series-windows (four stages) a second of its thread.`;
  const nulls = [
    ...[line(falseHead), rule(falseHead.length)],
    ...[...families, allFamilies].map(falseRow),
    '',
  ];
  const faults = [
    ...[line(faultHead), rule(faultHead.length)],
    ...[...kinds, allKinds].map(faultRow),
    ...['', `Of all pages in traffic with faults ${percent(precision)} belong to one.`, ''],
  ];
  return [
    ...(families.length > 0 ? nulls : []),
    ...(kinds.length > 0 ? faults : []),
    ...[speed, ''],
  ].join('\n');
}
