import { OpenAPIHono } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { z } from 'zod';
import type { Clock } from '../../../base/clock.ts';
import { knownSecrets } from '../../../base/telemetry/known-secrets.ts';
import type { Logger } from '../../../base/telemetry/log.ts';
import type { Config } from '../../../config/schema.ts';
import type { ClickHouseClient } from '../../../sink/clickhouse.ts';
import { ImpossibleQuestion } from '../../../views/impossible-question.ts';
import { UnknownName } from '../../../views/unknown-name.ts';
import type { WindowBounds } from '../../../views/window-states.ts';
import { acceptedEncodings } from '../accepted-encodings.ts';
import { checked } from '../api/explain-request.ts';
import { parametersOf } from '../api/parameters-of.ts';
import { Problem, problemBody } from '../api/problem.ts';
import { Turnstile } from '../api/turnstile.ts';
import { AnswerCache } from './answer-cache.ts';
import type { Endpoint } from './endpoint.ts';
import { endpoints } from './endpoints.ts';
import type { LedgerMark } from './ledger-mark.ts';
import { openApiDocument } from './open-api.ts';
import { outageProblem } from './outage-problem.ts';
import type { ProcessFacts } from './process-facts.ts';

export interface DashboardSources {
  readonly config: Config;
  readonly client: ClickHouseClient;
  readonly log: Logger;
  readonly clock: Pick<Clock, 'nowMs' | 'elapsedMs'>;
  readonly mark: () => Promise<LedgerMark>;
  readonly facts: () => Promise<ProcessFacts>;
}

/** The questions of the dashboard, each a GET. Errors are `application/problem+json` (RFC 9457). */
export function createDashboard(sources: DashboardSources): OpenAPIHono {
  const app = new OpenAPIHono();
  const answers = new AnswerCache(sources.clock.elapsedMs, (answer) =>
    knownSecrets.hide(`${JSON.stringify(answer)}\n`),
  );
  const turnstile = new Turnstile();
  app.onError((error, context) => respondProblem(context, error, sources));
  for (const endpoint of endpoints) {
    app.get(endpoint.path.replaceAll(/\{(\w+)\}/g, ':$1'), (context) =>
      respond(context, endpoint, { sources, answers, turnstile }),
    );
  }
  const document = `${JSON.stringify(openApiDocument(endpoints))}\n`;
  app.get('/openapi.json', (context) => {
    checked(z.strictObject({}), parametersOf(context), { what: 'parameter' });
    return context.body(document, 200, { 'content-type': 'application/json' });
  });
  return app;
}

interface Shared {
  readonly sources: DashboardSources;
  readonly answers: AnswerCache;
  readonly turnstile: Turnstile;
}

/** Final answers to a fixed question may be kept by a browser; all others it asks for again, by their ETag. */
const forGood = 'private, max-age=86400, immutable';
const askAgain = 'private, no-cache';

const nothingStored = { completeMs: Number.NEGATIVE_INFINITY, finalMs: Number.NEGATIVE_INFINITY };
/** How long an answer that may change at any time is kept. */
const pollMs = 2_000;

async function respond(context: Context, endpoint: Endpoint, shared: Shared): Promise<Response> {
  const { sources, answers, turnstile } = shared;
  const { config, client, clock, facts } = sources;
  const given = { ...parametersOf(context), ...context.req.param() };
  const ask = (bounds: WindowBounds, firstMs: number | undefined) =>
    endpoint.ask(given, { config, client, nowMs: clock.nowMs(), firstMs, bounds, facts });
  // A wrong question is 400, also while ClickHouse is away.
  ask(nothingStored, undefined);
  const { flushedMs, evaluatedMs, firstMs, ...bounds } = await sources.mark();
  const asked = ask(bounds, firstMs);
  const question = JSON.stringify([endpoint.path, asked.identity]);
  const mark = {
    never: '',
    'with windows': `stored ${flushedMs}`,
    'at any time': `read ${Math.floor(clock.elapsedMs() / pollMs)}`,
  }[asked.changes];
  const { body, gzip, etag } = await answers.answer(question, mark, () =>
    turnstile.run(asked.answer),
  );
  const headers = {
    etag,
    'cache-control': asked.isFixed ? forGood : askAgain,
    vary: 'accept-encoding',
    // How current everything is, also beside an answer that has not changed.
    'tailmark-stored-to': momentOf(bounds.completeMs),
    'tailmark-evaluated-to': momentOf(evaluatedMs),
    'x-content-type-options': 'nosniff',
  };
  const known = context.req.header('if-none-match')?.split(',') ?? [];
  if (known.some((tag) => tag.trim() === etag)) return context.body(null, 304, headers);
  const type = { ...headers, 'content-type': 'application/json' };
  if (gzip === undefined || !acceptedEncodings(context.req.header('accept-encoding')).has('gzip'))
    return context.body(body, 200, type);
  return context.body(new Uint8Array(gzip), 200, { ...type, 'content-encoding': 'gzip' });
}

/** RFC 3339; `never` where there is no such window. */
function momentOf(ms = 0): string {
  return ms > 0 && Number.isFinite(ms) ? new Date(ms).toISOString() : 'never';
}

function respondProblem(context: Context, error: unknown, { log }: DashboardSources): Response {
  const problem = problemOf(error);
  if (problem !== error && problem.status === 503) {
    log.warn({ err: error, path: context.req.path }, 'a question of the dashboard failed');
  }
  if (problem.retryAfterSeconds !== undefined) {
    context.header('retry-after', String(problem.retryAfterSeconds));
  }
  return context.body(`${JSON.stringify(problemBody(problem))}\n`, problem.status, {
    'content-type': 'application/problem+json',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  });
}

function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (error instanceof ImpossibleQuestion) return new Problem(400, error.message);
  if (error instanceof UnknownName) {
    const { thing: unknown, known, message } = error;
    return new Problem(404, message, undefined, unknown && { unknown, known });
  }
  return outageProblem(error);
}
