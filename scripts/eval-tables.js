// Puts what `npm run eval -- --record` has kept into docs/detection.md, and so of its modes.

import { betweenMarks } from './between-marks.js';

/**
 * The document with the tables of `bench/results/NAME.txt` made anew: the results without their head, which
 * ends with an empty line.
 */
export function withEvalTables(document, results, name = 'eval') {
  const [, ...tables] = results.trimEnd().split('\n\n');
  return betweenMarks(document, name, tables.join('\n\n'));
}
