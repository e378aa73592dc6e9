import { inputSchema, type SchemaNode } from '../../src/config/input-schema.ts';

/** What only this project's own messages and documents use. */
const ownKeywords: ReadonlySet<string> = new Set([
  ...['duration', 'form', 'examplePort', 'holdsNoLogin'],
  ...['secret', 'inFile'],
]);

/**
 * config/schema.json: JSON Schema (2020-12) of the file, for editors and pipelines. Without secrets,
 * as those may not stand in the file; what a `*_file` key can name is not required.
 */
export function renderJsonSchema(): string {
  const text = JSON.stringify(
    { title: 'tailmark configuration', ...withoutSecrets(inputSchema()) },
    function (this: Record<string, unknown>, key, value: unknown) {
      // A setting may have any name; a keyword stands in a schema, which has a type.
      const isKeyword = ownKeywords.has(key) && typeof this.type === 'string';
      return isKeyword ? undefined : value;
    },
    2,
  );
  return `${text}\n`;
}

function withoutSecrets(node: SchemaNode): SchemaNode {
  const { properties, items, oneOf, required } = node;
  const kept = Object.entries(properties ?? {})
    .filter(([, child]) => child.secret !== true || child.inFile === true)
    .map(([name, child]) => [name, withoutSecrets(child)]);
  const isOptional = (name: string) => Object.hasOwn(properties ?? {}, `${name}_file`);
  return {
    ...node,
    ...(properties === undefined ? {} : { properties: Object.fromEntries(kept) }),
    ...(items === undefined ? {} : { items: withoutSecrets(items) }),
    ...(oneOf === undefined ? {} : { oneOf: oneOf.map(withoutSecrets) }),
    ...(required === undefined ? {} : { required: required.filter((name) => !isOptional(name)) }),
  };
}
