import type { IncomingMessage, ServerResponse } from 'node:http';
import { Problem } from '../api/problem.ts';
import type { Access } from './access.ts';

const maxBodyBytes = 8_192;

/**
 * POST /v1/login with `{"token": …}` sets the cookie. Only JSON is taken: a form on another site cannot send it.
 *
 * @throws Problem
 */
export async function login(
  access: Access,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (!access.hasTokens)
    throw new Problem(404, 'There is no login: http.auth.tokens_file is not set.');
  if (request.method !== 'POST') throw new Problem(404, 'A login is POST /v1/login.');
  if (!/^application\/json\b/i.test(request.headers['content-type'] ?? '')) {
    throw new Problem(400, 'The body must be JSON, with content-type application/json.');
  }
  const token = tokenIn(await bodyOf(request));
  if (token === undefined) throw new Problem(400, 'The body must be {"token": "…"}.');
  const cookie = access.cookieFor(token, request);
  if (cookie === undefined) throw new Problem(401, 'http.auth.tokens_file has no such token.');
  response.writeHead(204, { 'set-cookie': cookie, 'cache-control': 'no-store' });
  response.end();
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

async function bodyOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > maxBodyBytes)
      throw new Problem(400, `The body must be at most ${maxBodyBytes} bytes.`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}
