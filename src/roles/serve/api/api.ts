import { type Context, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { z } from 'zod';
import { muteJson, muteOf, muteRequestSchema } from '../../../alert/routing/mute-request.ts';
import { messageOf } from '../../../base/failure.ts';
import { isSameSecret } from '../../../base/network/is-same-secret.ts';
import { OperatorError } from '../../../base/operator-error.ts';
import { storedQuantiles } from '../../../base/stored-quantiles.ts';
import { knownSecrets } from '../../../base/telemetry/known-secrets.ts';
import { bearerTokenOf } from '../access/bearer-token.ts';
import { type AutoscaleAnswer, type AutoscaleQuery, autoscale } from './autoscale.ts';
import { checked } from './explain-request.ts';
import { type Gate, gateStatus, type Parameters, releaseOf } from './gate.ts';
import { parametersOf } from './parameters-of.ts';
import { Problem, problemBody } from './problem.ts';
import type { ApiSources } from './sources.ts';
import { Turnstile } from './turnstile.ts';

const maxBodyBytes = 64 * 1024;
const requests = [
  ...['GET /v1/verdict', 'POST /v1/gate/promote', 'POST /v1/gate/rollback', 'GET /v1/autoscale'],
  ...['GET /v1/mutes', 'POST /v1/mutes', 'DELETE /v1/mutes/ID'],
];

/**
 * The API for rollouts, autoscalers and mutes. Reads need no login; what changes something needs the token of
 * the operator. Errors are `application/problem+json` (RFC 9457).
 */
export function createApi(sources: ApiSources, operatorToken: string | undefined): Hono {
  const app = new Hono();
  const turnstile = new Turnstile();
  app.use('*', bodyLimit({ maxSize: maxBodyBytes, onError: () => tooLarge() }));
  app.onError((error, context) => respondProblem(context, error, sources));
  app.notFound((context) =>
    respondProblem(
      context,
      new Problem(
        404,
        `${context.req.method} ${context.req.path} is no request of this API. There are ${requests.join(', ')}, and those of /openapi.json.`,
      ),
      sources,
    ),
  );

  app.get('/v1/verdict', async (context) => {
    const release = releaseOf(parametersOf(context));
    return json(context, await turnstile.run(() => sources.verdict(release)));
  });

  for (const gate of ['promote', 'rollback'] as const satisfies readonly Gate[]) {
    app.post(`/v1/gate/${gate}`, async (context) => {
      const release = releaseOf(parametersOf(context), await context.req.text());
      const { verdict, reason } = await turnstile.run(() => sources.verdict(release));
      context.header('cache-control', 'no-store');
      return context.text(hidden(`${verdict}: ${reason}\n`), gateStatus(gate, verdict));
    });
  }

  app.get('/v1/autoscale', async (context) => {
    const query = autoscaleQuery(parametersOf(context), sources);
    const answer: AutoscaleAnswer = await turnstile.run(() =>
      autoscale(query, sources.autoscaling(query)),
    );
    return json(context, answer);
  });

  app.get('/v1/mutes', async (context) => {
    checked(z.strictObject({}), parametersOf(context), { what: 'parameter' });
    const mutes = await turnstile.run(() => sources.mutes());
    return json(context, { mutes: mutes.map(muteJson) });
  });
  app.post('/v1/mutes', async (context) => {
    requireOperator(context, operatorToken);
    const request = checked(muteRequestSchema, await bodyOf(context), { what: 'field' });
    const { until_ms } = request;
    const nowMs = sources.nowMs();
    if (until_ms <= nowMs) {
      const detail = `until_ms must lie ahead of now, in epoch milliseconds; it is ${until_ms}, and now is ${nowMs}.`;
      throw new Problem(400, detail);
    }
    const mute = muteOf(request);
    const notes = await turnstile.run(() => sources.putMute(mute));
    return json(context, { mute: muteJson(mute), notes }, 201);
  });
  app.delete('/v1/mutes/:id', async (context) => {
    requireOperator(context, operatorToken);
    const id = context.req.param('id');
    const ended = await turnstile.run(() => sources.endMute(id));
    if (ended === undefined)
      throw new Problem(404, `No mute that holds now or later has the id ${id}.`);
    return json(context, { mute: muteJson(ended) });
  });
  return app;
}

const autoscaleSchema = z.strictObject({
  model: z.string().min(1).max(4096),
  stage: z.string().min(1).max(4096).default('total'),
  q: z.enum(storedQuantiles.map(String)).transform(Number),
  objective_ms: z.coerce.number().gt(0).max(86_400_000).optional(),
  window_seconds: z.coerce.number().int().min(10).max(3_600).default(60),
});

/** An autoscaler's question: with the objective of `detect.slos` where it names none. */
function autoscaleQuery(
  parameters: Parameters,
  { objectiveMs }: Pick<ApiSources, 'objectiveMs'>,
): AutoscaleQuery & { readonly q: number } {
  const { model, stage, q, objective_ms, window_seconds } = checked(autoscaleSchema, parameters, {
    what: 'parameter',
  });
  const objective = objective_ms ?? (stage === 'total' ? objectiveMs(model) : undefined);
  if (objective === undefined) {
    const detail = `objective_ms must be given: detect.slos has no objective for stage ${stage} of model ${model}.`;
    throw new Problem(400, detail);
  }
  return { model, stage, q, objectiveMs: objective, windowMs: window_seconds * 1000 };
}

function requireOperator(context: Context, token: string | undefined): void {
  if (token === undefined) {
    throw new Problem(403, 'Mutes can be changed here once http.operator_token_file is set.');
  }
  const given = bearerTokenOf(context.req.header('authorization')) ?? '';
  if (isSameSecret(given, token)) return;
  throw new Problem(401, "This needs the operator's token: Authorization: Bearer TOKEN.");
}

async function bodyOf(context: Context): Promise<unknown> {
  try {
    return await context.req.json();
  } catch {
    throw new Problem(400, 'The body must be JSON.');
  }
}

function json(context: Context, body: object, status: 200 | 201 = 200): Response {
  return context.body(hidden(`${JSON.stringify(body)}\n`), status, {
    'content-type': 'application/json',
    'cache-control': 'no-store',
  });
}

function hidden(text: string): string {
  return knownSecrets.hide(text);
}

function tooLarge(): never {
  throw new Problem(400, `The body must be at most ${maxBodyBytes} bytes.`);
}

/** A mistake of the caller is a 400; all else means that there is no answer. */
function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (error instanceof OperatorError && error.code === 'TAILMARK_USAGE') {
    return new Problem(400, [`${error.message}.`, error.hint].filter(Boolean).join(' '));
  }
  return new Problem(503, `No answer: ${messageOf(error)}`, 10);
}

function respondProblem(context: Context, error: unknown, { log }: ApiSources): Response {
  const problem = problemOf(error);
  if (problem.status === 503 && problem !== error)
    log.warn({ err: messageOf(error) }, 'a request failed');
  if (problem.retryAfterSeconds !== undefined) {
    context.header('retry-after', String(problem.retryAfterSeconds));
  }
  return context.body(hidden(`${JSON.stringify(problemBody(problem))}\n`), problem.status, {
    'content-type': 'application/problem+json',
    'cache-control': 'no-store',
  });
}
