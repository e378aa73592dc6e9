// Puts what `npm run eval -- --record` has kept into docs/detection.md.

const begin = '<!-- eval: made of bench/results/eval.txt by npm run generate:docs -->';
const end = '<!-- /eval -->';

/** The document with its tables made anew: the results without their head, which ends with an empty line. */
export function withEvalTables(document, results) {
  const from = document.indexOf(begin);
  const to = document.indexOf(end);
  if (from < 0 || to < from) throw new Error('docs/detection.md has lost its marks');
  const [, ...tables] = results.trimEnd().split('\n\n');
  return `${document.slice(0, from)}${begin}\n\n${tables.join('\n\n')}\n\n${document.slice(to)}`;
}
