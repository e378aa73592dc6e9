// Puts what `npm run eval -- MODE --record` has kept into docs/detection.md.

import { betweenMarks } from './between-marks.js';

/** The modes whose results are in docs/detection.md. */
export const evalNames = [
  ...['eval-false-pages', 'eval-faults', 'eval-kinds', 'eval-drift', 'eval-incidents'],
  ...['eval-real', 'eval-nab'],
];

/**
 * The document with the tables of `bench/results/NAME.txt` made anew: the results without their head, which
 * ends with an empty line.
 */
export function withEvalTables(document, results, name) {
  const [, ...tables] = results.trimEnd().split('\n\n');
  return betweenMarks(document, name, tables.join('\n\n'));
}
