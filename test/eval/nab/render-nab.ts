/** Scores by the profiles, in their order, each at its best threshold. */
export interface NabRow {
  readonly detector: string;
  readonly best: readonly number[];
  /** NAB's published scores, and those recomputed at its threshold. */
  readonly published?: readonly number[];
  readonly recomputed?: readonly number[];
}

/** Renders the scores as a Markdown table, best first, with the number of reproduced published ones. */
export function renderNab(rows: readonly NabRow[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const cells = (scores: readonly number[] | undefined) =>
    [0, 1, 2].map((i) => (scores === undefined ? '–' : (scores[i] as number).toFixed(2)));
  const columns = ['standard', 'low FP', 'low FN'];
  const all = rows.flatMap(({ published = [], recomputed = [] }) =>
    published.map((score, i) => Math.abs(score - (recomputed[i] ?? Number.NaN))),
  );
  const same = all.filter((apart) => apart < samePoints).length;
  return [
    line(['detector', ...columns, ...columns.map((name) => `published: ${name}`)]),
    `|---|${'---:|'.repeat(2 * columns.length)}`,
    ...[...rows]
      .sort((a, b) => (b.best[0] as number) - (a.best[0] as number))
      .map(({ detector, published, best }) =>
        line([
          published === undefined ? `**${detector}**` : detector,
          ...cells(best),
          ...cells(published),
        ]),
      ),
    '',
    `Of ${all.length} published scores ${same} come out to a millionth of a point at the thresholds they were taken at. ` +
      'Where another threshold is better, the first columns have that one.',
    '',
  ].join('\n');
}

/** Scores within this are equal. */
const samePoints = 1e-6;
