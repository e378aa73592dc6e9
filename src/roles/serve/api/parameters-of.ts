import type { Context } from 'hono';
import type { Parameters } from './gate.ts';
import { Problem } from './problem.ts';

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
