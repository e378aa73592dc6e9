import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { hostPort } from '../base/host-port.ts';
import { invariant } from '../base/invariant.ts';
import { OperatorError } from '../base/operator-error.ts';
import { knownSecrets } from '../base/telemetry/known-secrets.ts';
import { type Metrics, readMetrics, renderMetrics } from '../base/telemetry/metrics.ts';
import type { RoleContext, RunningRole } from './role.ts';

/** Prometheus' text format, version 0.0.4. */
const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

export interface HealthServer {
  /** `http://host:port`, with the actual port. */
  readonly url: string;
  close(): Promise<void>;
}

export interface HealthServerOptions extends Pick<RoleContext, 'config' | 'metrics'> {
  /** The roles to report on; more may be added later. */
  readonly roles: readonly RunningRole[];
  /** Reasons why the process is not ready; empty when it is. */
  problems(): readonly string[];
  /** Adds what else the process answers. @default nothing */
  readonly addRoutes?: ((app: Hono) => void) | undefined;
}

/**
 * Serves /healthz (the process runs), /readyz (200 or 503 with the reasons, then warnings) and /metrics
 * (Prometheus text) at `http.listen`, to everybody; port 0 means any free one.
 *
 * @throws OperatorError TAILMARK_PORT_TAKEN when the address is in use.
 */
export async function startHealthServer(options: HealthServerOptions): Promise<HealthServer> {
  const { listen } = options.config.http;
  const address = hostPort(listen);
  invariant(address !== undefined, `http.listen must be host:port; it is ${listen}`);
  // HTTP/1.0 needs no `Host`.
  const answer = getRequestListener(appOf(options).fetch, { hostname: 'localhost' });
  const server = createServer(connectionOptions(options.config.http), (request, response) => {
    // Of every answer, whoever makes it: a browser takes none for what it is not said to be.
    response.setHeader('x-content-type-options', 'nosniff');
    void answer(request, response);
  });
  server.maxConnections = httpLimits.connections;
  // Idle connections of others make room for whoever comes next, such as a probe of /healthz.
  server.on('drop', () => server.closeIdleConnections());
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
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/**
 * Bounds of connections.
 *
 * | value | unit | why |
 * |---|---|---|
 * | 1,000 | connections | a process has descriptors for that many, beside its own |
 * | 5 s | interval of looking for slow clients | one that sends a byte a second ends with its time |
 * | 5 s | headers, longer than an idle connection | a connection that a balancer has opened ahead is idle, not slow |
 */
const httpLimits = { connections: 1_000, checkMs: 5_000, headersLongerMs: 5_000 } as const;

/**
 * Times that connections are kept. Balancers use an idle one again until their own time-out, and lose the
 * request where the server has closed it meanwhile.
 */
export function connectionOptions({
  keep_alive_timeout: keepAliveTimeout,
  request_timeout,
}: Pick<HealthServerOptions['config']['http'], 'keep_alive_timeout' | 'request_timeout'>) {
  const headersTimeout = keepAliveTimeout + httpLimits.headersLongerMs;
  return {
    keepAliveTimeout,
    headersTimeout,
    requestTimeout: Math.max(request_timeout, headersTimeout),
    connectionsCheckingInterval: httpLimits.checkMs,
  };
}

/** The only app of a process: its health, its metrics, and what roles add. */
function appOf({ metrics, roles, problems, addRoutes }: HealthServerOptions): Hono {
  const app = new Hono();
  app.get('/healthz', (context) => respondText(context, 200, 'ok\n'));
  app.get('/readyz', (context) => {
    const { isReady, text } = healthOf(roles, problems());
    return respondText(context, isReady ? 200 : 503, text);
  });
  app.get('/metrics', async (context) => {
    const failed = (error: unknown) => respondText(context, 500, `${String(error)}\n`);
    const respond = (text: string) => respondText(context, 200, text, METRICS_TYPE);
    return metricsText(metrics, roles).then(respond, failed);
  });
  app.onError((error, context) => respondText(context, 500, `${String(error)}\n`));
  app.notFound((context) =>
    respondUnknown(context, 'see /healthz, /readyz and /metrics; the role serve has the rest\n'),
  );
  addRoutes?.(app);
  return app;
}

export function respondText(
  context: Context,
  status: ContentfulStatusCode,
  text: string,
  type = 'text/plain',
): Response {
  const headers = { 'content-type': type, 'cache-control': 'no-store' };
  return context.body(knownSecrets.hide(text), status, headers);
}

/** Responds to a request that no route takes: all but the API is only read. */
export function respondUnknown(context: Context, hint: string): Response {
  const { method } = context.req;
  if (method === 'GET' || method === 'HEAD') return respondText(context, 404, hint);
  context.header('allow', 'GET, HEAD');
  return respondText(context, 405, 'GET only\n');
}

function healthOf(roles: readonly RunningRole[], problems: readonly string[]) {
  const isReady = problems.length === 0;
  const notes = roles.flatMap((role) => role.notes?.() ?? []);
  const lines = [...(isReady ? ['ready'] : problems), ...notes];
  return { isReady, text: `${lines.join('\n')}\n` };
}

async function metricsText(metrics: Metrics, roles: readonly RunningRole[]): Promise<string> {
  const byRole = await Promise.all(roles.map((role) => role.threadMetrics?.() ?? []));
  const threads = byRole.flat();
  const own =
    threads.length === 0
      ? await metrics.registry.metrics()
      : await renderMetrics([await readMetrics(metrics), ...threads]);
  return `${own}${await metrics.ofProcess.metrics()}`;
}
