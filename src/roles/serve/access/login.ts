import type { HttpBindings } from '@hono/node-server';
import type { Context, Hono, Next } from 'hono';
import { Problem } from '../../http/problem.ts';
import { limitedBody } from '../http/read-request.ts';
import type { Access } from './access.ts';

const maxBodyBytes = 8_192;

/**
 * POST /v1/login with `{"token": …}` opens a session, whose cookie it sets; POST /v1/logout ends it. Only
 * JSON is taken: a form on another site cannot send it. They are open to everybody, so they stand before
 * `guardData`.
 */
export function addLogin(app: Hono, access: Access): void {
  const respondCookie = (context: Context, cookie: string | undefined) =>
    context.body(null, 204, {
      ...(cookie !== undefined && { 'set-cookie': cookie }),
      'cache-control': 'no-store',
    });
  const postOnly = async ({ req: { method, path } }: Context, next: Next) => {
    if (!access.hasTokens) {
      throw new Problem(404, 'There is no login: http.auth.tokens_file is not set.');
    }
    if (method !== 'POST') throw Problem.ofMethod(method, path, ['POST']);
    await next();
  };
  app.all('/v1/login', postOnly, jsonOnly, limitedBody(maxBodyBytes), async (context) => {
    const token = tokenIn(await context.req.text());
    if (token === undefined) throw new Problem(400, 'The body must be {"token": "…"}.');
    return respondCookie(context, access.openSession(token, incomingOf(context)));
  });
  app.all('/v1/logout', postOnly, (context) =>
    respondCookie(context, access.closeSession(incomingOf(context))),
  );
}

/** The request as Node has it, with its socket. */
export function incomingOf({ env }: Context): HttpBindings['incoming'] {
  return (env as HttpBindings).incoming;
}

async function jsonOnly({ req }: Context, next: Next): Promise<void> {
  if (!/^application\/json\b/i.test(req.header('content-type') ?? '')) {
    throw new Problem(400, 'The body must be JSON, with content-type application/json.');
  }
  await next();
}

function tokenIn(text: string): string | undefined {
  try {
    const body: unknown = JSON.parse(text);
    if (typeof body !== 'object' || body === null || !('token' in body)) return undefined;
    return typeof body.token === 'string' ? body.token : undefined;
  } catch {
    return undefined;
  }
}
