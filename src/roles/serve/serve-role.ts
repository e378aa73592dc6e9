import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { systemClock } from '../../base/clock.ts';
import { messageOf } from '../../base/failure.ts';
import { hostPort } from '../../base/host-port.ts';
import { invariant } from '../../base/invariant.ts';
import { OperatorError } from '../../base/operator-error.ts';
import { knownSecrets } from '../../base/telemetry/known-secrets.ts';
import { type Metrics, readMetrics, renderMetrics } from '../../base/telemetry/metrics.ts';
import { AnomalyStore } from '../../sink/anomalies/anomaly-store.ts';
import { readProgress } from '../../sink/windows/window-progress.ts';
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

/** Prometheus' text format, version 0.0.4. */
const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

export interface HttpServer {
  /** `http://host:port`, with the actual port. */
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Serves the dashboard, /healthz (the process runs), /readyz (200 or 503 with the reasons, then warnings),
 * /metrics (Prometheus text) and the API below /v1 at `http.listen`; port 0 means any free one.
 *
 * @param others the roles to report on; more may be added later.
 * @param ownProblems of the process itself.
 * @throws OperatorError TAILMARK_PORT_TAKEN when the address is in use.
 */
export async function startServe(
  context: Omit<RoleContext, 'stdin' | 'startedMs'>,
  others: readonly RunningRole[],
  ownProblems: () => readonly string[],
): Promise<HttpServer> {
  const { config, client, log, metrics } = context;
  const freshness = new Freshness(context);
  const { nowMs } = systemClock;
  const completeness = () => freshness.read();
  const sources = openSources({ config, client, log, nowMs, completeness });
  const anomalies = new AnomalyStore(client);
  const marks = new LedgerMarks({
    readProgress: () => readProgress(client, context.groupId),
    completeness,
    readEvaluatedMs: () => anomalies.evaluatedUntilMs(context.groupId),
    allowedLatenessMs: config.windows.allowed_lateness,
    elapsedMs: systemClock.elapsedMs,
  });
  const app = createApi(sources, config.http.operator_token);
  const mark = () => marks.read();
  const problems = () => [...ownProblems(), ...others.flatMap((role) => role.problems())];
  const facts = new FactReader({ context, others, completeness, problems });
  const own = { config, client, log, clock: systemClock };
  app.route('/', createDashboard({ ...own, mark, facts: () => facts.read() }));
  const server = createServer(
    handlerOf({
      api: getRequestListener(app.fetch),
      access: new Access({ http: config.http, log, elapsedMs: systemClock.elapsedMs }),
      files: new StaticFiles(config.http.frame_ancestors ?? []),
      health: () => healthOf(others, problems()),
      metrics: () => metricsText(metrics, others),
    }),
  );
  const { listen } = config.http;
  const address = hostPort(listen);
  invariant(address !== undefined, `http.listen must be host:port; it is ${listen}`);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(address.port, address.host, resolve);
  }).catch((error: Error) => {
    facts.stop();
    throw new OperatorError(
      'TAILMARK_PORT_TAKEN',
      `Cannot serve health and metrics: http.listen must be free; it is ${listen} (${error.message})`,
      {
        hint: 'Set http.listen (TAILMARK_HTTP_LISTEN) to another port; 0 takes any free one.',
        cause: error,
      },
    );
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${listen.slice(0, listen.lastIndexOf(':'))}:${port}`,
    close: () =>
      new Promise((resolve) => {
        freshness.stop();
        facts.stop();
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

interface Parts {
  readonly api: RequestListener;
  readonly access: Access;
  readonly files: StaticFiles;
  readonly health: () => { readonly isReady: boolean; readonly text: string };
  readonly metrics: () => Promise<string>;
}

/** Who answers which path. Health and metrics answer to everybody, all else by `Access`. */
function handlerOf({ api, access, files, health, metrics }: Parts): RequestListener {
  return (request, response) => {
    const path = (request.url ?? '/').split('?', 1)[0] ?? '/';
    const respond = (status: number, body: string, type = 'text/plain') => {
      response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' });
      response.end(request.method === 'HEAD' ? undefined : knownSecrets.hide(body));
    };
    if (path === '/v1/login') {
      login(access, request, response).catch((error) => refuse(response, error));
    } else if (path.startsWith('/v1/') || path === '/openapi.json') {
      const problem = access.refusalOfData(request, path);
      if (problem === undefined) api(request, response);
      else refuse(response, problem);
    } else if (request.method !== 'GET' && request.method !== 'HEAD') respond(405, 'GET only\n');
    else if (path === '/healthz') respond(200, 'ok\n');
    else if (path === '/readyz') {
      const { isReady, text } = health();
      respond(isReady ? 200 : 503, text);
    } else if (path === '/metrics') {
      metrics().then(
        (text) => respond(200, text, METRICS_TYPE),
        (error: unknown) => respond(500, `${String(error)}\n`),
      );
    } else if (files.has(path)) {
      const problem = access.refusalOfPage(request);
      if (problem === undefined) files.respond(request, response, path);
      else respond(problem.status, `${problem.message}\n`);
    } else respond(404, 'see /, /healthz, /readyz, /metrics and /v1\n');
  };
}

function healthOf(others: readonly RunningRole[], problems: readonly string[]) {
  const isReady = problems.length === 0;
  const notes = others.flatMap((role) => role.notes?.() ?? []);
  const lines = [...(isReady ? ['ready'] : problems), ...notes];
  return { isReady, text: `${lines.join('\n')}\n` };
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

async function metricsText(metrics: Metrics, others: readonly RunningRole[]): Promise<string> {
  const byRole = await Promise.all(others.map((role) => role.threadMetrics?.() ?? []));
  const threads = byRole.flat();
  const own =
    threads.length === 0
      ? await metrics.registry.metrics()
      : await renderMetrics([await readMetrics(metrics), ...threads]);
  return `${own}${await metrics.ofProcess.metrics()}`;
}
