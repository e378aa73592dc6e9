import { OperatorError } from '../../base/operator-error.ts';
import { ConfigError } from '../../config/config-error.ts';
import type { LoadedConfig } from '../../config/load/load-config.ts';
import type { Io } from '../io.ts';
import { loadSettings, settingsText } from '../load.ts';
import type { Machine } from '../machine.ts';
import type { ReportLine } from '../text/report-line.ts';
import { type Probes, runProbes } from './probes.ts';

/** Beyond this, events of a right clock may look late or in the future: windows.max_future is 5m. */
const mostSkewMs = 5_000;

/** Examines the configuration, and through it Kafka, ClickHouse and its clock. */
export async function examineServers(
  options: Readonly<Record<string, unknown>>,
  io: Io,
  probes: Probes,
  machine: Machine,
): Promise<ReportLine[]> {
  let loaded: LoadedConfig;
  try {
    loaded = await loadSettings(options, io);
  } catch (error) {
    return configurationLines(error);
  }
  const { config, origins } = loaded;
  const [findings, skew] = await Promise.all([
    runProbes(probes, config, io),
    clockSkew(config.clickhouse.url, machine, io.signal),
  ]);
  const isGiven = (key: string) => (origins.get(key) ?? 'default') !== 'default';
  const isConfigured = isGiven('kafka.brokers') || isGiven('clickhouse.url');
  return [
    { level: 'ok', what: 'Configuration', detail: settingsText(loaded) },
    ...findings.map(({ ok, isWarning, what, detail, hint, error }): ReportLine => {
      if (ok) return { level: isWarning === true ? 'warn' : 'ok', what, detail, hint };
      const responds = error !== undefined && !error.code.endsWith('_UNREACHABLE');
      if (isConfigured || responds) return { level: 'fail', what, detail, hint };
      // On a fresh machine no server runs, and none is configured.
      const fresh = 'No server is configured: `tailmark up` starts both here.';
      return { level: 'warn', what, detail, hint: fresh };
    }),
    ...skew,
  ];
}

function configurationLines(error: unknown): ReportLine[] {
  if (!(error instanceof OperatorError)) throw error;
  const line = (detail: string, hint: string | undefined): ReportLine => {
    return { level: 'fail', what: 'Configuration', detail, hint };
  };
  return error instanceof ConfigError
    ? error.problems.map(({ where, message, hint }) => line(`${where}: ${message}`, hint))
    : [line(error.message, error.hint)];
}

/**
 * Compares the server's clock with the local one by its Date header, in whole seconds. Rounding and latency
 * do not count as skew. Without a response there is no line; the probe reports that.
 */
async function clockSkew(
  url: string,
  machine: Machine,
  signal: AbortSignal,
): Promise<ReportLine[]> {
  const what = 'Clock against ClickHouse';
  const beforeMs = machine.nowMs();
  const serverMs = await machine.serverMs(url, signal).catch(() => undefined);
  const afterMs = machine.nowMs();
  if (serverMs === undefined) return [];
  const aheadMs = Math.max(0, serverMs - afterMs);
  const behindMs = Math.max(0, beforeMs - (serverMs + 999));
  const skewMs = Math.max(aheadMs, behindMs);
  if (skewMs <= mostSkewMs) return [{ level: 'ok', what, detail: 'agrees within 5 s' }];
  const side = aheadMs > 0 ? 'ahead' : 'behind';
  const detail = `the server is ${(skewMs / 1000).toFixed(0)} s ${side}`;
  const hint =
    'Synchronize both clocks with NTP: events too far in the future become dead letters.';
  return [{ level: 'fail', what, detail, hint }];
}
