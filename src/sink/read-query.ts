import { readFileSync } from 'node:fs';

const folder = new URL('../../sql/queries/', import.meta.url);
const texts = new Map<string, string>();

/** Text of sql/queries/<name>.sql. Values are passed as query parameters, never as text. */
export function readQuery(name: string): string {
  let text = texts.get(name);
  if (text === undefined) {
    text = readFileSync(new URL(`${name}.sql`, folder), 'utf8');
    texts.set(name, text);
  }
  return text;
}
