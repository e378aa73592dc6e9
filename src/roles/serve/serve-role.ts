import type { Hono } from 'hono';
import { systemClock } from '../../base/clock.ts';
import { AnomalyStore } from '../../sink/anomalies/anomaly-store.ts';
import { readProgress } from '../../sink/windows/window-progress.ts';
import { firstStoredMs } from '../../sink/windows/window-range.ts';
import { respondText } from '../http/respond.ts';
import type { RoleContext, RunningRole } from '../role.ts';
import { Access } from './access/access.ts';
import { guardData } from './access/guard-data.ts';
import { incomingOf } from './access/login.ts';
import { addApi } from './api/api.ts';
import { openSources } from './api/sources.ts';
import { addDashboard } from './dashboard/dashboard.ts';
import { LedgerProgressReader } from './dashboard/ledger-progress.ts';
import { FactReader } from './dashboard/process-facts.ts';
import { Freshness } from './freshness.ts';
import { QueryLimiter } from './http/query-limiter.ts';
import { StaticFiles } from './http/static-files.ts';

/** The dashboard, and the API below /v1. */
export interface Serving {
  /** Adds them to the app of the process. */
  addRoutes(app: Hono): void;
  stop(): void;
}

/**
 * Starts the role serve.
 *
 * @param others the roles to report on; more may be added later.
 * @param problems reasons why the process is not ready.
 */
export function startServe(
  context: Omit<RoleContext, 'stdin' | 'startedMs'>,
  others: readonly RunningRole[],
  problems: () => readonly string[],
): Serving {
  const { config, client, log, metrics } = context;
  const freshness = new Freshness(context);
  const { nowMs, elapsedMs } = systemClock;
  const completeness = () => freshness.read();
  const sources = openSources({ config, client, log, nowMs, completeness });
  const anomalies = new AnomalyStore(client);
  const reader = new LedgerProgressReader({
    readProgress: () => readProgress(client, context.groupId),
    completeness,
    readEvaluatedMs: () => anomalies.evaluatedUntilMs(context.groupId),
    readFirstMs: () => firstStoredMs(client),
    allowedLatenessMs: config.windows.allowed_lateness,
    clock: systemClock,
  });
  const progress = () => reader.read();
  const facts = new FactReader({ context, others, completeness, problems });
  const access = new Access({ http: config.http, log, elapsedMs });
  return {
    addRoutes: (app) => {
      guardData(app, access, log);
      const limiter = new QueryLimiter({ metrics });
      const { operator_token: operatorToken, auth } = config.http;
      const hasOperators = operatorToken !== undefined || auth?.tokens_file !== undefined;
      addApi(app, sources, hasOperators, limiter);
      const own = { config, client, clock: systemClock, limiter };
      addDashboard(app, { ...own, progress, facts: () => facts.read() });
      addPages(app, access, new StaticFiles(config.http.frame_ancestors ?? []));
    },
    stop: () => {
      freshness.stop();
      facts.stop();
    },
  };
}

/** Adds the pages and files of the interface. */
function addPages(app: Hono, access: Access, files: StaticFiles): void {
  // For all methods: a path that is only read is not one that takes GET alone, as the API has it.
  app.use('*', async (context, next) => {
    const { method, url } = context.req;
    const isRead = method === 'GET' || method === 'HEAD';
    if (!isRead || !files.has(new URL(url).pathname)) return next();
    const problem = access.refusalOfPage(incomingOf(context));
    if (problem === undefined) return files.respond(context);
    return respondText(context, 403, `${problem.message}\n`);
  });
}
