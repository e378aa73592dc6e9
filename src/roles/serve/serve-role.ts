import type { RequestListener, ServerResponse } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { systemClock } from '../../base/clock.ts';
import { messageOf } from '../../base/failure.ts';
import { knownSecrets } from '../../base/telemetry/known-secrets.ts';
import { AnomalyStore } from '../../sink/anomalies/anomaly-store.ts';
import { firstStoredMs } from '../../sink/windows/first-stored.ts';
import { readProgress } from '../../sink/windows/window-progress.ts';
import { pathOf, respondText } from '../health-server.ts';
import type { RoleContext, RunningRole } from '../role.ts';
import { Access } from './access/access.ts';
import { login } from './access/login.ts';
import { createApi } from './api/api.ts';
import { Problem, problemBody } from './api/problem.ts';
import { openSources } from './api/sources.ts';
import { createDashboard } from './dashboard/dashboard.ts';
import { LedgerMarks } from './dashboard/ledger-mark.ts';
import { FactReader } from './dashboard/process-facts.ts';
import { Freshness } from './freshness.ts';
import { StaticFiles } from './static-files.ts';

/** The dashboard, and the API below /v1. */
export interface Serving {
  /** Responds to requests for them; 404 to all else. */
  readonly listener: RequestListener;
  stop(): void;
}

/**
 * Starts the role serve.
 *
 * @param others the roles to report on; more may be added later.
 * @param problems why the process is not ready.
 */
export function startServe(
  context: Omit<RoleContext, 'stdin' | 'startedMs'>,
  others: readonly RunningRole[],
  problems: () => readonly string[],
): Serving {
  const { config, client, log } = context;
  const freshness = new Freshness(context);
  const { nowMs } = systemClock;
  const completeness = () => freshness.read();
  const sources = openSources({ config, client, log, nowMs, completeness });
  const anomalies = new AnomalyStore(client);
  const marks = new LedgerMarks({
    readProgress: () => readProgress(client, context.groupId),
    completeness,
    readEvaluatedMs: () => anomalies.evaluatedUntilMs(context.groupId),
    readFirstMs: () => firstStoredMs(client),
    allowedLatenessMs: config.windows.allowed_lateness,
    elapsedMs: systemClock.elapsedMs,
  });
  const app = createApi(sources, config.http.operator_token);
  const mark = () => marks.read();
  const facts = new FactReader({ context, others, completeness, problems });
  const own = { config, client, log, clock: systemClock };
  app.route('/', createDashboard({ ...own, mark, facts: () => facts.read() }));
  return {
    listener: listenerOf({
      api: getRequestListener(app.fetch),
      access: new Access({ http: config.http, log, elapsedMs: systemClock.elapsedMs }),
      files: new StaticFiles(config.http.frame_ancestors ?? []),
    }),
    stop: () => {
      freshness.stop();
      facts.stop();
    },
  };
}

interface Parts {
  readonly api: RequestListener;
  readonly access: Access;
  readonly files: StaticFiles;
}

/** Who answers which path: all by `Access`. */
function listenerOf({ api, access, files }: Parts): RequestListener {
  return (request, response) => {
    const path = pathOf(request.url);
    const isHead = request.method === 'HEAD';
    const respond = (status: number, body: string) =>
      respondText(response, status, isHead ? undefined : body);
    if (path === '/v1/login') {
      login(access, request, response).catch((error) => refuse(response, error));
    } else if (path.startsWith('/v1/') || path === '/openapi.json') {
      const problem = access.refusalOfData(request, path);
      if (problem === undefined) api(request, response);
      else refuse(response, problem);
    } else if (request.method !== 'GET' && !isHead) respond(405, 'GET only\n');
    else if (files.has(path)) {
      const problem = access.refusalOfPage(request);
      if (problem === undefined) files.respond(request, response, path);
      else respond(problem.status, `${problem.message}\n`);
    } else respond(404, 'see /, /healthz, /readyz, /metrics and /v1\n');
  };
}

/** A refusal of a request for data, as RFC 9457. */
function refuse(response: ServerResponse, error: unknown): void {
  const problem =
    error instanceof Problem ? error : new Problem(503, `No answer: ${messageOf(error)}`);
  response.writeHead(problem.status, {
    'content-type': 'application/problem+json',
    'cache-control': 'no-store',
    ...(problem.status === 401 && { 'www-authenticate': 'Bearer' }),
  });
  response.end(knownSecrets.hide(`${JSON.stringify(problemBody(problem))}\n`));
}
