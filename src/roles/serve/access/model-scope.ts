import type { Context, Next } from 'hono';
import { matchesPattern } from '../../../series/matches-pattern.ts';
import { Problem } from '../../http/problem.ts';
import { callerOf } from '../http/caller.ts';

/**
 * Questions about the model that their parameter names, whose answers hold nothing of others. All else is
 * refused to a token of some models: what is added later too, until it stands here.
 */
const ofOneModel: ReadonlySet<string> = new Set([
  ...['/v1/models', '/v1/tails', '/v1/composition', '/v1/density', '/v1/facets', '/v1/requests'],
  ...['/v1/goodput', '/v1/lengths'],
  ...['/v1/releases', '/v1/versions', '/v1/compare', '/v1/verdict', '/v1/autoscale'],
]);
/** Their model may stand in the body: they look for themselves, by `requireModel`. */
const gates: ReadonlySet<string> = new Set(['/v1/gate/promote', '/v1/gate/rollback']);
/** They hold nothing of any model. */
const ofNone: ReadonlySet<string> = new Set(['/openapi.json']);

/**
 * Refuses what a token of some models may not ask. Each `model` that is given counts.
 *
 * @throws Problem 403
 */
export async function requireScope(context: Context, next: Next): Promise<void> {
  const { models } = callerOf(context);
  const { path } = context.req;
  if (models !== undefined && !ofNone.has(path) && !gates.has(path)) {
    if (!ofOneModel.has(path)) {
      throw new Problem(
        403,
        `This token reads the models ${models.join(', ')} alone, and ${path} is not about one model.`,
      );
    }
    const given = context.req.queries('model') ?? [];
    for (const model of given.length === 0 ? [''] : given) requireModel(context, model);
  }
  await next();
}

/**
 * Refuses a model that a token may not read; '' stands for all of them.
 *
 * @throws Problem 403
 */
export function requireModel(context: Context, model: string): void {
  const { models } = callerOf(context);
  if (models === undefined) return;
  if (model !== '' && models.some((pattern) => matchesPattern(pattern, model))) return;
  const given = model === '' ? 'no model is given' : `it is ${JSON.stringify(model)}`;
  throw new Problem(
    403,
    `model must be one that this token reads (${models.join(', ')}); ${given}.`,
  );
}
