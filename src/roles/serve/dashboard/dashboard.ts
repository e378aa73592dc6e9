import type { Context, Hono } from 'hono';
import { z } from 'zod';
import type { Clock } from '../../../base/clock.ts';
import { knownSecrets } from '../../../base/telemetry/known-secrets.ts';
import { secondMs } from '../../../base/time.ts';
import type { Config } from '../../../config/schema.ts';
import type { ClickHouseClient } from '../../../sink/client/clickhouse.ts';
import { endingWith } from '../../../sink/client/ending-with.ts';
import { sparingSettings } from '../../../sink/client/query-settings.ts';
import type { WindowBounds } from '../../../views/window-states.ts';
import { operations } from '../api/operations.ts';
import { acceptedEncodings } from '../http/accepted-encodings.ts';
import { AnswerPace } from '../http/answer-pace.ts';
import { checked } from '../http/explain-request.ts';
import { askerOf, type QueryLimiter } from '../http/query-limiter.ts';
import { isKnown, parametersOf } from '../http/read-request.ts';
import { AnswerCache } from './answer-cache.ts';
import type { Endpoint } from './endpoint.ts';
import { endpoints } from './endpoints.ts';
import type { LedgerProgress } from './ledger-progress.ts';
import { openApiDocument } from './open-api.ts';
import type { ProcessFacts } from './process-facts.ts';

export interface DashboardSources {
  readonly config: Config;
  readonly client: ClickHouseClient;
  readonly clock: Pick<Clock, 'nowMs' | 'elapsedMs' | 'sleep' | 'yieldToEventLoop'>;
  readonly progress: () => Promise<LedgerProgress>;
  readonly facts: () => Promise<ProcessFacts>;
  readonly limiter: QueryLimiter;
}

/** Adds the questions of the dashboard, each a GET, and the document of all that can be asked. */
export function addDashboard(app: Hono, sources: DashboardSources): void {
  const answers = new AnswerCache(sources.clock, (answer) =>
    knownSecrets.hide(`${JSON.stringify(answer)}\n`),
  );
  const pace = new AnswerPace(sources.clock);
  for (const endpoint of endpoints) {
    app.get(endpoint.path.replaceAll(/\{(\w+)\}/g, ':$1'), (context) =>
      respond(context, endpoint, { sources, answers, pace }),
    );
  }
  const document = `${JSON.stringify(openApiDocument(endpoints, operations))}\n`;
  app.get('/openapi.json', (context) => {
    checked(z.strictObject({}), parametersOf(context), { what: 'parameter' });
    return context.body(document, 200, { 'content-type': 'application/json' });
  });
}

interface Shared {
  readonly sources: DashboardSources;
  readonly answers: AnswerCache;
  readonly pace: AnswerPace;
}

/**
 * Final answers to a fixed question may be kept by a browser; all others it asks for again, by their ETag.
 */
const forGood = 'private, max-age=86400, immutable';
const askAgain = 'private, no-cache';

const nothingStored = { completeMs: Number.NEGATIVE_INFINITY, finalMs: Number.NEGATIVE_INFINITY };
/** Bytes that take a tenth of a millisecond to write. */
const mostAtOnce = 64 * 1024;
/** Time for which an answer that may change at any time is kept. */
const pollMs = 2_000;

async function respond(context: Context, endpoint: Endpoint, shared: Shared): Promise<Response> {
  const { sources, answers, pace } = shared;
  const { config, client, clock, facts, limiter } = sources;
  const given = { ...parametersOf(context), ...context.req.param() };
  const ask = (bounds: WindowBounds, firstMs: number | undefined) =>
    endpoint.ask(given, { config, nowMs: clock.nowMs(), firstMs, bounds, facts });
  const asker = askerOf(context, 'dashboard');
  limiter.note(asker);
  // A wrong question is 400, also while ClickHouse is away.
  ask(nothingStored, undefined);
  const { flushedMs, evaluatedMs, firstMs, ...bounds } = await sources.progress();
  const asked = ask(bounds, firstMs);
  const question = JSON.stringify([endpoint.path, asked.question]);
  const stored = {
    never: '',
    'with windows': `stored ${flushedMs}`,
    'at any time': `read ${Math.floor(clock.elapsedMs() / pollMs)}`,
  }[asked.changes];
  const version = JSON.stringify([asked.identity, stored]);
  const isFinal = asked.changes === 'never';
  const { body, gzip, etag, isCurrent, ageMs } = await answers.answer(
    { client: asker.client, question, version, isFinal },
    (signal, isSparing) =>
      asked.answer(endingWith(client, signal, isSparing ? sparingSettings : {})),
    (work) => limiter.run(asker, work),
  );
  const headers = {
    etag,
    // RFC 9111, 5.1.
    age: String(Math.ceil(ageMs / secondMs)),
    'cache-control': asked.isFixed && isCurrent ? forGood : askAgain,
    vary: 'accept-encoding',
    // They say how current everything is, also beside an answer that has not changed.
    'tailmark-stored-to': momentOf(bounds.completeMs),
    'tailmark-evaluated-to': momentOf(evaluatedMs),
  };
  if (isKnown(context, etag)) return context.body(null, 304, headers);
  const type = { ...headers, 'content-type': 'application/json' };
  const isPacked =
    gzip !== undefined && acceptedEncodings(context.req.header('accept-encoding')).has('gzip');
  const bytes = isPacked ? gzip : body;
  // Many may wait for one large answer: it is written to each in a separate turn, and others are served
  // between.
  if (bytes.length > mostAtOnce) {
    await pace.turn(asker.client, bytes.length);
    await clock.yieldToEventLoop();
  }
  return context.body(bytes, 200, isPacked ? { ...type, 'content-encoding': 'gzip' } : type);
}

/** RFC 3339; `never` where there is no such window. */
function momentOf(ms = 0): string {
  return ms > 0 && Number.isFinite(ms) ? new Date(ms).toISOString() : 'never';
}
