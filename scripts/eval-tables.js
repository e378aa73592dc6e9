// Puts what `npm run eval -- MODE --record` has kept into docs/detection.md.

import { betweenMarks } from './between-marks.js';

/** The modes whose results are in docs/detection.md. */
export const evalNames = [
  ...['eval-false-pages', 'eval-faults', 'eval-kinds', 'eval-drift', 'eval-incidents'],
  ...['eval-releases', 'eval-real', 'eval-nab'],
];

/**
 * The document with the tables of `bench/results/NAME.txt` made anew: the results without their head, which
 * ends with an empty line. Without results it says how to record them.
 */
export function withEvalTables(document, results, name) {
  if (results === '') {
    const mode = name.replace('eval-', '');
    return betweenMarks(document, name, `Not recorded yet: \`npm run eval -- ${mode} --record\`.`);
  }
  const [, ...tables] = results.trimEnd().split('\n\n');
  return betweenMarks(document, name, tables.join('\n\n'));
}
