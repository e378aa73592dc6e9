import { readMetrics, renderMetrics } from '../../base/telemetry/metrics.ts';
import type { RoleContext, RunningRole } from '../role.ts';
import { type HttpServer, startHttpServer } from './http-server.ts';

/**
 * Serves health and metrics of this process over HTTP.
 *
 * @param others the roles to report on; more may be added later.
 * @param ownProblems of the process itself.
 */
export function startServe(
  { config, metrics }: Pick<RoleContext, 'config' | 'metrics'>,
  others: readonly RunningRole[],
  ownProblems: () => readonly string[],
): Promise<HttpServer> {
  return startHttpServer(config.http.listen, {
    problems: () => [...ownProblems(), ...others.flatMap((role) => role.problems())],
    notes: () => others.flatMap((role) => role.notes?.() ?? []),
    metrics: async () => {
      const byRole = await Promise.all(others.map((role) => role.threadMetrics?.() ?? []));
      const threads = byRole.flat();
      if (threads.length === 0) return metrics.registry.metrics();
      return renderMetrics([await readMetrics(metrics), ...threads]);
    },
  });
}
