import { z } from 'zod';
import { anomalyEventSchema } from '../../src/contract/anomaly-event.ts';
import { renderExample } from './render-example.ts';
import { renderJsonSchema } from './render-json-schema.ts';
import { renderMapping } from './render-mapping.ts';
import { renderReference } from './render-reference.ts';

/** Files of the repository that are made from the schemas, with what they must hold. */
export function generatedFiles(): readonly { readonly path: string; readonly text: string }[] {
  return [
    { path: 'config/example.yaml', text: renderExample() },
    { path: 'config/schema.json', text: renderJsonSchema() },
    { path: 'config/anomaly-event.schema.json', text: renderEventSchema() },
    { path: 'docs/reference/configuration.md', text: renderReference() },
    { path: 'docs/reference/mapping.md', text: renderMapping() },
  ];
}

function renderEventSchema(): string {
  return `${JSON.stringify(z.toJSONSchema(anomalyEventSchema), null, 2)}\n`;
}
