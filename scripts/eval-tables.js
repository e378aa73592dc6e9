// Puts what `npm run eval -- MODE --record` has kept into the pages of the evaluation.

import { betweenMarks, wrapped } from './between-marks.js';

/** The results that each page shows. */
export const evalPages = {
  'docs/explained/evaluation.md': ['eval-false-pages', 'eval-faults', 'eval-releases'],
  'docs/explained/evaluation-fleet.md': [
    ...[
      'eval-kinds',
      'eval-drift',
      'eval-incidents',
      'eval-second-faults',
      'eval-real',
      'eval-nab',
    ],
  ],
  'docs/explained/evaluation-llm.md': ['eval-llm'],
  'docs/explained/evaluation-mechanisms.md': ['eval-mechanisms'],
  'docs/explained/verdict.md': ['eval-verdict'],
  'docs/explained/verdict-stages.md': ['eval-verdict-stages'],
  'docs/explained/comparison.md': ['eval-compare'],
};

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
  return betweenMarks(document, name, wrapped(tables.join('\n\n')));
}
