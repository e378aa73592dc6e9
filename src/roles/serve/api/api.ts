import type { Context, Hono } from 'hono';
import { z } from 'zod';
import {
  mostAheadMs,
  muteJson,
  muteOf,
  muteRequestSchema,
} from '../../../alert/routing/mute-request.ts';
import { knownSecrets } from '../../../base/telemetry/known-secrets.ts';
import { Problem } from '../../http/problem.ts';
import { requireModel } from '../access/model-scope.ts';
import { callerOf } from '../http/caller.ts';
import { checked } from '../http/explain-request.ts';
import { askerOf, type QueryLimiter } from '../http/query-limiter.ts';
import { parametersOf } from '../http/read-request.ts';
import { Work } from '../http/work.ts';
import { type AutoscaleAnswer, autoscale, autoscaleQuery } from './autoscale.ts';
import { type Gate, gateStatus, releaseOf } from './gate.ts';
import type { ApiSources } from './sources.ts';

/**
 * Adds the API for rollouts, autoscalers and mutes. What changes something needs a token that may, which
 * `Access` compares.
 *
 * @param hasOperators true where there can be such a token
 */
export function addApi(
  app: Hono,
  sources: ApiSources,
  hasOperators: boolean,
  limiter: QueryLimiter,
): void {
  const { log } = sources;
  const inTurn = <T>(context: Context, run: (signal: AbortSignal) => Promise<T>) =>
    limiter.run(askerOf(context, 'machines'), new Work(run));
  const verdictOf = (
    context: Context,
    release: ReturnType<typeof releaseOf> & { readonly showsGoodput?: true },
  ) => {
    const asked = callerOf(context).mayListModels ? release : { ...release, hidesModels: true };
    return inTurn(context, (signal) => sources.verdict(asked, signal));
  };

  app.get('/v1/verdict', async (context) => {
    const release = releaseOf(parametersOf(context));
    return json(context, await verdictOf(context, { ...release, showsGoodput: true }));
  });

  for (const gate of ['promote', 'rollback'] as const satisfies readonly Gate[]) {
    app.post(`/v1/gate/${gate}`, async (context) => {
      const release = releaseOf(parametersOf(context), await context.req.text());
      requireModel(context, release.model);
      const { verdict, reason } = await verdictOf(context, release);
      context.header('cache-control', 'no-store');
      return context.text(hidden(`${verdict}: ${reason}\n`), gateStatus(gate, verdict));
    });
  }

  app.get('/v1/autoscale', async (context) => {
    const query = autoscaleQuery(parametersOf(context), sources);
    const answer: AutoscaleAnswer = await inTurn(context, (signal) =>
      autoscale(query, sources.autoscaling(query, signal)),
    );
    return json(context, answer);
  });

  app.get('/v1/mutes', async (context) => {
    checked(z.strictObject({}), parametersOf(context), { what: 'parameter' });
    const mutes = await inTurn(context, (signal) => sources.mutes(signal));
    return json(context, { mutes: mutes.map(muteJson) });
  });
  app.post('/v1/mutes', async (context) => {
    const who = operatorOf(context, hasOperators);
    const request = checked(muteRequestSchema, await bodyOf(context), { what: 'field' });
    const { from_ms, until_ms } = request;
    const nowMs = sources.nowMs();
    if (until_ms <= nowMs) {
      const detail = `until_ms must lie ahead of now, in epoch milliseconds; it is ${until_ms}, and now is ${nowMs}.`;
      throw new Problem(400, detail);
    }
    if (from_ms > nowMs + mostAheadMs) {
      const detail = `from_ms must be at most 366 days ahead, in epoch milliseconds; it is ${from_ms}, and now is ${nowMs}.`;
      throw new Problem(400, detail);
    }
    const mute = muteOf(request, { who, nowMs });
    const notes = await inTurn(context, () => sources.putMute(mute));
    log.info({ mute: muteJson(mute), address: callerOf(context).address }, 'mute added');
    return json(context, { mute: muteJson(mute), notes }, 201);
  });
  app.delete('/v1/mutes/:id', async (context) => {
    const who = operatorOf(context, hasOperators);
    const id = context.req.param('id');
    const ended = await inTurn(context, () => sources.endMute(id, who));
    if (ended === undefined)
      throw new Problem(404, `No mute that holds now or later has the id ${id}.`);
    log.info({ mute: muteJson(ended), address: callerOf(context).address }, 'mute ended');
    return json(context, { mute: muteJson(ended) });
  });
}

/**
 * Login of who may change something.
 *
 * @throws Problem 401, 403
 */
function operatorOf(context: Context, hasOperators: boolean): string {
  const { login, mayOperate, isSession } = callerOf(context);
  if (mayOperate && login !== undefined) return login;
  if (isSession) {
    const detail = `A login of the dashboard reads only: send ${operatorTokens} with this request.`;
    throw new Problem(403, detail);
  }
  if (login !== undefined) {
    throw new Problem(403, `${login} reads only: this needs ${operatorTokens}.`);
  }
  if (hasOperators) throw new Problem(401, `This needs ${operatorTokens}.`);
  const detail =
    'Mutes can be changed here once http.operator_token_file is set, or by a token with operate in http.auth.tokens_file.';
  throw new Problem(403, detail);
}

const operatorTokens =
  'the operator token, or one with operate in http.auth.tokens_file (Authorization: Bearer TOKEN)';

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
