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

/** A text whose lines of prose are at most 120 columns wide; tables stay as they are. */
export function wrapped(text) {
  return text.split('\n').flatMap(wrappedLine).join('\n');
}

function wrappedLine(line) {
  if (line.length <= 120 || line.startsWith('|')) return [line];
  const lines = [''];
  for (const word of line.split(' ')) {
    const longer = lines.at(-1) === '' ? word : `${lines.at(-1)} ${word}`;
    if (longer.length > 120) lines.push(word);
    else lines[lines.length - 1] = longer;
  }
  return lines;
}
