// Puts what `npm run eval -- --record` has kept into docs/detection.md.

import { betweenMarks } from './between-marks.js';

/** The document with its tables made anew: the results without their head, which ends with an empty line. */
export function withEvalTables(document, results) {
  const [, ...tables] = results.trimEnd().split('\n\n');
  return betweenMarks(document, 'eval', tables.join('\n\n'));
}
