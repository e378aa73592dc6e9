import type { Context, MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { Problem } from '../../http/problem.ts';

/** Query parameters, by name. */
export type Parameters = Readonly<Record<string, string>>;

/**
 * Query parameters, each of them given once.
 *
 * @throws Problem 400
 */
export function parametersOf({ req }: Context): Parameters {
  const given = Object.entries(req.queries());
  const twice = given.find(([, values]) => values.length > 1);
  if (twice === undefined) return req.query();
  throw new Problem(400, `${twice[0]} must be given once; it is given ${twice[1].length} times.`);
}

/**
 * True where the client has the answer of this ETag already. `etag` of Hono makes the whole answer first, and copies
 * it: milliseconds for one of some megabytes.
 */
export function isKnown(context: Context, etag: string): boolean {
  const known = context.req.header('if-none-match')?.split(',') ?? [];
  return known.some((tag) => tag.trim() === etag);
}

/** Refuses a larger body with 413. */
export function limitedBody(maxBytes: number): MiddlewareHandler {
  return bodyLimit({
    maxSize: maxBytes,
    onError: () => {
      throw new Problem(413, `The body must be at most ${maxBytes} bytes.`);
    },
  });
}
