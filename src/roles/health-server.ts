import { Hono } from 'hono';
import { type Clock, systemClock } from '../base/clock.ts';
import { knownSecrets } from '../base/telemetry/known-secrets.ts';
import { type Metrics, readMetrics, renderMetrics } from '../base/telemetry/metrics.ts';
import { type HttpServer, openHttpServer } from './http/http-server.ts';
import { respondFault, respondText, respondUnknown } from './http/respond.ts';
import type { RoleContext, RunningRole } from './role.ts';

/** Prometheus' text format, version 0.0.4. */
const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

export interface HealthServerOptions extends Pick<RoleContext, 'config' | 'metrics' | 'log'> {
  /** The roles to report on; more may be added later. */
  readonly roles: readonly RunningRole[];
  /** Reasons why the process is not ready; empty when it is. */
  problems(): readonly string[];
  /** Adds what else the process answers. @default nothing */
  readonly addRoutes?: ((app: Hono) => void) | undefined;
}

/**
 * Serves /healthz (the process runs), /readyz (200 or 503 with the reasons, then warnings) and /metrics
 * (Prometheus text) at `http.listen`, to everybody.
 *
 * @throws OperatorError TAILMARK_PORT_TAKEN when the address is in use.
 */
export function startHealthServer(options: HealthServerOptions): Promise<HttpServer> {
  const { config, log, metrics } = options;
  return openHttpServer({ http: config.http, app: appOf(options), log, metrics });
}

/** The only app of a process: its health, its metrics, and what roles add. */
function appOf({ metrics, roles, problems, log, addRoutes }: HealthServerOptions): Hono {
  const app = new Hono();
  app.get('/healthz', (context) => respondText(context, 200, 'ok\n'));
  app.get('/readyz', (context) => {
    const { isReady, text } = healthOf(roles, problems());
    return respondText(context, isReady ? 200 : 503, text);
  });
  const readText = sharedText(() => metricsText(metrics, roles));
  app.get('/metrics', async (context) => {
    const headers = { 'content-type': METRICS_TYPE, 'cache-control': 'no-store' };
    return context.body(await readText(), 200, headers);
  });
  app.onError((error, context) => respondFault(context, error, log));
  app.notFound((context) =>
    respondUnknown(context, 'see /healthz, /readyz and /metrics; the role serve has the rest'),
  );
  addRoutes?.(app);
  return app;
}

function healthOf(roles: readonly RunningRole[], problems: readonly string[]) {
  const isReady = problems.length === 0;
  const notes = roles.flatMap((role) => role.notes?.() ?? []);
  const lines = [...(isReady ? ['ready'] : problems), ...notes];
  return { isReady, text: `${lines.join('\n')}\n` };
}

/** Part of the time that goes into making a text, however many ask for it; and the longest wait for the next one. */
const making = { part: 0.1, longestPauseMs: 1_000 } as const;

/**
 * Makes a text once for all who ask for it at the same time, in bytes that their responses share. After each there is a
 * pause, nine times as long as it took to make: who asks meanwhile waits for the next one. So no text is older than the
 * question, and strangers who ask all the time leave nine tenths of the time to others.
 */
export function sharedText(
  make: () => Promise<string>,
  clock: Pick<Clock, 'elapsedMs' | 'sleep'> = systemClock,
): () => Promise<Uint8Array<ArrayBuffer>> {
  let next: Promise<Uint8Array<ArrayBuffer>> | undefined;
  let freeAtMs = Number.NEGATIVE_INFINITY;
  const encode = async () => {
    const pauseMs = freeAtMs - clock.elapsedMs();
    if (pauseMs > 0) await clock.sleep(pauseMs);
    const startMs = clock.elapsedMs();
    try {
      return new TextEncoder().encode(knownSecrets.hide(await make()));
    } finally {
      const madeMs = clock.elapsedMs();
      const tookMs = madeMs - startMs;
      freeAtMs = madeMs + Math.min(making.longestPauseMs, tookMs * (1 / making.part - 1));
      next = undefined;
    }
  };
  return () => {
    next ??= encode();
    return next;
  };
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
