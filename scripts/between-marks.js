/**
 * The document with what is between two marks made anew; the first of them says where it comes from.
 *
 * @throws when the document has lost its marks.
 */
export function betweenMarks(document, name, text) {
  const begin = `<!-- ${name}: made of bench/results/${name}.txt by npm run generate:docs -->`;
  const end = `<!-- /${name} -->`;
  const from = document.indexOf(begin);
  const to = document.indexOf(end);
  if (from < 0 || to < from) throw new Error(`The document has lost its marks: ${begin}`);
  return `${document.slice(0, from)}${begin}\n\n${text}\n\n${document.slice(to)}`;
}
