import { inputSchema } from './input-schema.ts';

/** What only this project's own messages and documents use. */
const ownKeywords: ReadonlySet<string> = new Set(['duration', 'form', 'secret']);

/** config/schema.json: JSON Schema (2020-12) of the file, for editors and pipelines. */
export function renderJsonSchema(): string {
  const text = JSON.stringify(
    { title: 'tailmark configuration', ...inputSchema() },
    function (this: Record<string, unknown>, key, value: unknown) {
      // A setting may have any name; a keyword stands in a schema, which has a type.
      const isKeyword = ownKeywords.has(key) && typeof this.type === 'string';
      return isKeyword ? undefined : value;
    },
    2,
  );
  return `${text}\n`;
}
