import { renderExample } from './render-example.ts';
import { renderJsonSchema } from './render-json-schema.ts';
import { renderReference } from './render-reference.ts';

/** Files of the repository that are made from the schema, with what they must hold. */
export function generatedFiles(): readonly { readonly path: string; readonly text: string }[] {
  return [
    { path: 'config/example.yaml', text: renderExample() },
    { path: 'config/schema.json', text: renderJsonSchema() },
    { path: 'docs/reference/configuration.md', text: renderReference() },
  ];
}
