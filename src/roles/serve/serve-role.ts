import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { systemClock } from '../../base/clock.ts';
import { hostPort } from '../../base/host-port.ts';
import { invariant } from '../../base/invariant.ts';
import { OperatorError } from '../../base/operator-error.ts';
import { knownSecrets } from '../../base/telemetry/known-secrets.ts';
import { type Metrics, readMetrics, renderMetrics } from '../../base/telemetry/metrics.ts';
import type { RoleContext, RunningRole } from '../role.ts';
import { createApi } from './api/api.ts';
import { openSources } from './api/sources.ts';
import { Freshness } from './freshness.ts';

/** Prometheus' text format, version 0.0.4. */
const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

export interface HttpServer {
  /** `http://host:port`, with the actual port. */
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Serves /healthz (the process runs), /readyz (200 or 503 with the reasons, then warnings), /metrics (Prometheus
 * text) and the API below /v1 at `http.listen`; port 0 means any free one.
 *
 * @param others the roles to report on; more may be added later.
 * @param ownProblems of the process itself.
 * @throws OperatorError TAILMARK_PORT_TAKEN when the address is in use.
 */
export async function startServe(
  context: Pick<RoleContext, 'config' | 'client' | 'groupId' | 'log' | 'metrics'>,
  others: readonly RunningRole[],
  ownProblems: () => readonly string[],
): Promise<HttpServer> {
  const { config, client, log, metrics } = context;
  const freshness = new Freshness(context);
  const { nowMs } = systemClock;
  const completeness = () => freshness.read();
  const sources = openSources({ config, client, log, nowMs, completeness });
  const api = getRequestListener(createApi(sources, config.http.operator_token).fetch);
  const server = createServer((request, response) => {
    const path = (request.url ?? '/').split('?', 1)[0];
    const respond = (status: number, body: string, type = 'text/plain') => {
      response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' });
      response.end(request.method === 'HEAD' ? undefined : knownSecrets.hide(body));
    };
    if (path?.startsWith('/v1/') === true) void api(request, response);
    else if (request.method !== 'GET' && request.method !== 'HEAD') respond(405, 'GET only\n');
    else if (path === '/healthz') respond(200, 'ok\n');
    else if (path === '/readyz') {
      const problems = [...ownProblems(), ...others.flatMap((role) => role.problems())];
      const isReady = problems.length === 0;
      const notes = others.flatMap((role) => role.notes?.() ?? []);
      const lines = [...(isReady ? ['ready'] : problems), ...notes];
      respond(isReady ? 200 : 503, `${lines.join('\n')}\n`);
    } else if (path === '/metrics') {
      metricsText(metrics, others).then(
        (text) => respond(200, text, METRICS_TYPE),
        (error: unknown) => respond(500, `${String(error)}\n`),
      );
    } else respond(404, 'see /healthz, /readyz, /metrics and /v1\n');
  });
  const { listen } = config.http;
  const address = hostPort(listen);
  invariant(address !== undefined, `http.listen must be host:port; it is ${listen}`);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(address.port, address.host, resolve);
  }).catch((error: Error) => {
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
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
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
