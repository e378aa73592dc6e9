import { incidentPath } from '../../base/dashboard-paths.ts';
import { plot } from './demo-traffic.ts';
import type { DemoTransport } from './demo-transport.ts';

/** The demo that keeps running after its story. */
interface RunningDemo {
  /** Address of the dashboard, without a slash at the end. */
  readonly url: string;
  readonly anomalyIds: readonly string[];
  readonly logPath: string;
}

/** Renders links to the anomalies of a demo that keeps running, and commands to explore it. */
export function exploreText(
  { servers, settings, commands }: Pick<DemoTransport, 'servers' | 'settings' | 'commands'>,
  { url, anomalyIds, logPath }: RunningDemo,
): string {
  const { clickhouse } = servers;
  const links = anomalyIds.map((id) => `incident  ${url}${incidentPath(id)}\n`);
  const lines = [
    ...exportsOf(settings),
    `export TAILMARK_CLICKHOUSE_URL=${clickhouse.url}`,
    'bin/tailmark.js doctor',
    `bin/tailmark.js tails --model ${plot.model} --since 10m`,
    'bin/tailmark.js anomalies',
    'bin/tailmark.js explain',
    'bin/tailmark.js verify',
    ...commands,
    `curl '${clickhouse.url}/?database=${clickhouse.database}' -d "SELECT stage, p50_ms, p99_ms FROM tails_1d WHERE model = '${plot.model}' AND NOT cold_start"`,
  ];
  return `${links.join('')}
To explore, in another terminal:

${lines.map((line) => `  ${line}\n`).join('')}
Log of the pipeline: ${logPath}
`;
}

/** The settings of the demo's pipeline, as a shell sets them: other commands then see the same. */
function exportsOf(settings: DemoTransport['settings']): string[] {
  return Object.entries(settings).flatMap(([section, keys]) =>
    Object.entries(keys).map(([key, value]) => {
      const name = `TAILMARK_${section}_${key}`.toUpperCase();
      return `export ${name}=${Array.isArray(value) ? value.join(',') : String(value)}`;
    }),
  );
}
