/**
 * The document with what is between two marks made anew; the first of them says where it comes from.
 *
 * @param source what it is made of. @default its file of results
 * @throws when the document has lost its marks.
 */
export function betweenMarks(document, name, text, source = `bench/results/${name}.txt`) {
  const begin = `<!-- ${name}: made of ${source} by npm run generate:docs -->`;
  const end = `<!-- /${name} -->`;
  const from = document.indexOf(begin);
  const to = document.indexOf(end);
  if (from < 0 || to < from) throw new Error(`The document has lost its marks: ${begin}`);
  return `${document.slice(0, from)}${begin}\n\n${text}\n\n${document.slice(to)}`;
}
