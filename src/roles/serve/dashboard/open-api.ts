import { OpenAPIHono } from '@hono/zod-openapi';
import { z } from 'zod';
import { namedThings } from '../../../series/unknown-name.ts';
import type { Operation } from '../api/operations.ts';
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

const errors: Readonly<Record<number, { description: string; header?: string }>> = {
  400: { description: 'A parameter or the body is wrong.' },
  401: { description: 'A login is needed, or the given one is none.', header: 'WWW-Authenticate' },
  403: { description: 'Not from here: only this machine may ask, or nobody may change this.' },
  404: { description: 'What is named is unknown.' },
  405: { description: 'The path takes other methods.', header: 'Allow' },
  413: { description: 'The body is too large.' },
  429: { description: 'Too many wrong logins. See Retry-After.', header: 'Retry-After' },
  431: { description: 'The address and the headers are over 16 KiB.' },
  503: { description: 'There is no answer now. See Retry-After.', header: 'Retry-After' },
};

/** Without `http.auth` this machine needs no login. */
const security: Readonly<Record<Operation['access'], Record<string, string[]>[]>> = {
  everybody: [],
  readers: [{ token: [] }, { session: [] }, {}],
  operator: [{ operator: [] }],
};

/** OpenAPI 3.1 of all that can be asked, from the schemas that check it. */
export function openApiDocument(
  endpoints: readonly Endpoint[],
  operations: readonly Operation[],
): object {
  const app = new OpenAPIHono();
  const registry = app.openAPIRegistry;
  const scheme = (name: string, of: Parameters<typeof registry.registerComponent>[2]) =>
    registry.registerComponent('securitySchemes', name, of);
  scheme('token', { type: 'http', scheme: 'bearer', description: 'Of http.auth.tokens_file.' });
  scheme('operator', { type: 'http', scheme: 'bearer', description: 'http.operator_token.' });
  scheme('session', { type: 'apiKey', in: 'cookie', name: 'tailmark_session' });
  for (const operation of [...endpoints.map(questionOf), ...operations]) {
    const { method, path, id, summary, access } = operation;
    registry.registerPath({
      ...{ method, path, summary, operationId: id, security: security[access] },
      request: requestOf(operation),
      responses: { ...answersOf(operation), ...errorsOf(operation) },
    });
  }
  return app.getOpenAPI31Document({
    openapi: '3.1.0',
    info: { title: 'tailmark', version: '1' },
  });
}

function questionOf({ path, summary, parameters, answer }: Endpoint): Operation {
  return {
    ...{ method: 'get', path, summary, parameters, access: 'readers', errors: [400, 404, 503] },
    id: path.replace('/v1/', '').replaceAll(/\/\{(\w+)\}/g, 'By_$1'),
    answers: {
      200: {
        description: 'The answer. `Age`: seconds since it was last known to be current.',
        json: answer,
      },
      304: { description: 'The answer is that of the given If-None-Match.' },
    },
  };
}

function answersOf({ answers }: Operation) {
  return Object.fromEntries(
    Object.entries(answers).map(([status, { description, json, type }]) => {
      const content = {
        ...(json !== undefined && { 'application/json': { schema: json } }),
        ...(type !== undefined && { [type]: { schema: z.string() } }),
      };
      return [
        status,
        Object.keys(content).length === 0 ? { description } : { description, content },
      ];
    }),
  );
}

function errorsOf({ access, errors: own }: Operation) {
  const statuses = [405, 431, ...(access === 'everybody' ? [] : [401, 403, 429]), ...own];
  return Object.fromEntries(
    [...new Set(statuses)].map((status) => {
      const { description = '', header } = errors[status] ?? {};
      const headers = header && { [header]: { schema: { type: 'string' as const } } };
      const content = { 'application/problem+json': { schema: problem } };
      return [status, { description, content, ...(headers && { headers }) }];
    }),
  );
}

function requestOf({ path, parameters, body, isBodyOptional = false }: Operation) {
  const all = Object.entries(parameters?.shape ?? {});
  const isInPath = ([name]: [string, unknown]) => path.includes(`{${name}}`);
  const inPath = all.filter(isInPath);
  const inQuery = all.filter((entry) => !isInPath(entry));
  return {
    ...(inQuery.length > 0 && { query: z.object(Object.fromEntries(inQuery)) }),
    ...(inPath.length > 0 && { params: z.object(Object.fromEntries(inPath)) }),
    ...(body !== undefined && {
      body: { content: { 'application/json': { schema: body } }, required: !isBodyOptional },
    }),
  };
}
