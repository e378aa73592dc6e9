import { OpenAPIHono } from '@hono/zod-openapi';
import { z } from 'zod';
import { namedThings } from '../../../series/unknown-name.ts';
import type { Endpoint } from './endpoint.ts';

const problem = z
  .strictObject({
    type: z.literal('about:blank'),
    title: z.string(),
    status: z.number().int(),
    detail: z.string().describe('What happened and what to do, in a sentence.'),
    unknown: z.enum(namedThings).optional().describe('What the name is of that is not stored.'),
    known: z
      .array(z.string())
      .optional()
      .describe('At most 20 names that are stored, the most similar one first.'),
  })
  .describe('An error by RFC 9457.');

const errors = {
  400: 'A parameter is wrong.',
  404: 'The model or the anomaly is unknown.',
  503: 'ClickHouse does not respond or has too much to do. See Retry-After.',
};

/** OpenAPI 3.1 of the dashboard's endpoints, from their schemas. */
export function openApiDocument(endpoints: readonly Endpoint[]): object {
  const app = new OpenAPIHono();
  const registry = app.openAPIRegistry;
  for (const { path, summary, parameters, answer } of endpoints) {
    registry.registerPath({
      ...{ method: 'get' as const, path, summary },
      request: requestOf(path, parameters),
      responses: {
        200: { description: 'The answer.', content: { 'application/json': { schema: answer } } },
        304: { description: 'The answer is that of the given If-None-Match.' },
        ...Object.fromEntries(
          Object.entries(errors).map(([status, description]) => [
            status,
            { description, content: { 'application/problem+json': { schema: problem } } },
          ]),
        ),
      },
    });
  }
  return app.getOpenAPI31Document({
    openapi: '3.1.0',
    info: { title: 'tailmark', version: '1' },
  });
}

function requestOf(path: string, { shape }: z.ZodObject) {
  const isInPath = ([name]: [string, unknown]) => path.includes(`{${name}}`);
  const all = Object.entries(shape);
  const inPath = all.filter(isInPath);
  const query = z.object(Object.fromEntries(all.filter((entry) => !isInPath(entry))));
  return inPath.length === 0 ? { query } : { query, params: z.object(Object.fromEntries(inPath)) };
}
