import { examineReceivers } from '../../alert/routing/examine-receivers.ts';
import { type ExitCode, exitCodes } from '../../base/exit-codes.ts';
import type { ProbeFinding } from '../../base/probe-finding.ts';
import type { EffectiveSetting, LoadedConfig } from '../../config/load/load-config.ts';
import { assemblyWarnings } from '../../roles/assemble/assembly-warnings.ts';
import { defaultRoles, roles } from '../../roles/role.ts';
import type { Command } from '../command.ts';
import { type Probes, probes as realProbes, runProbes } from '../doctor/probes.ts';
import { rolesOf } from '../flag-values.ts';
import type { Io } from '../io.ts';
import { connectionFlags, loadSettings, settingsText } from '../load.ts';
import { printReportLine } from '../text/report-line.ts';
import { renderTable } from '../text/table.ts';

export function createCheck(probes: Probes): Command {
  return {
    flags: connectionFlags,
    endsInOrder: true,
    help: `
Examples:
  tailmark check --config tailmark.yaml
  tailmark check --show | grep -v default      settings that are not defaults
  tailmark check --connect --json | jq .findings
  tailmark check --connect --roles ingest      as the user that only ingests

Exit codes: 0 all checks pass, 78 the configuration is invalid, a receiver can never match or a login is
refused, 69 a server does not respond or a topic is missing, 1 another check failed.`,
    configure(command) {
      command
        .option(
          '--connect',
          'also check Kafka and ClickHouse: connection, credentials, topics, consumer group, schema, rights to write',
        )
        .option(
          '--roles <LIST>',
          `roles of the process, of ${roles.join(',')}; --connect tries what they write`,
          defaultRoles.join(','),
        )
        .option('--show', 'print every setting and where it comes from; secrets are masked');
    },
    async run(_args, options, io) {
      // The files of formats are read as a process that ingests reads them.
      const { problemsOfFiles } = await import('../../topics/format-plan.ts');
      const loaded = await loadSettings(options, io, problemsOfFiles);
      const chosen = rolesOf(String(options.roles ?? defaultRoles));
      // Throws what a process of these roles would.
      const warnings = assemblyWarnings(loaded.config, chosen);
      const probed =
        options.connect === true ? await runProbes(probes, loaded.config, io, chosen) : [];
      const findings = [...(await examineReceivers(loaded.config, io.env)), ...warnings, ...probed];
      const settings = options.show === true ? loaded.settings : undefined;
      if (options.json === true) printJson(loaded, settings, findings, io);
      else printText(loaded, settings, findings, io);
      return verdict(findings);
    },
  };
}

export const check: Command = createCheck(realProbes);

function verdict(findings: readonly ProbeFinding[]): ExitCode {
  const failed = findings.find(({ ok }) => !ok);
  return failed === undefined ? exitCodes.ok : (failed.error?.exitCode ?? exitCodes.failed);
}

function printJson(
  { file }: LoadedConfig,
  settings: readonly EffectiveSetting[] | undefined,
  findings: readonly ProbeFinding[],
  io: Io,
): void {
  const result = {
    ok: findings.every(({ ok }) => ok),
    file: file ?? null,
    settings: settings?.map(({ key, shown, origin, where }) => {
      return { key, value: shown ?? null, origin, where };
    }),
    findings: findings.map(({ ok, isWarning, what, detail, hint, error }) => {
      return { ok, warning: isWarning, what, detail, hint, code: error?.code };
    }),
  };
  io.out(`${JSON.stringify(result)}\n`);
}

function printText(
  loaded: LoadedConfig,
  settings: readonly EffectiveSetting[] | undefined,
  findings: readonly ProbeFinding[],
  io: Io,
): void {
  if (settings !== undefined) io.out(`${settingsTable(settings, io)}\n`);
  const detail = settingsText(loaded);
  printReportLine({ level: 'ok', what: 'Configuration', detail }, io);
  for (const { ok, isWarning = false, what, detail, hint } of findings) {
    const level = ok ? (isWarning ? 'warn' : 'ok') : 'fail';
    printReportLine({ level, what, detail, hint }, io);
  }
}

function settingsTable(settings: readonly EffectiveSetting[], io: Io): string {
  return renderTable({
    columns: ['SETTING', 'VALUE', 'FROM'],
    rows: settings.map(({ key, shown, where }) => [key, textOf(shown), where]),
    color: io.color,
    maxWidth: io.columnCount,
  });
}

function textOf(shown: unknown): string {
  if (shown === undefined) return '-';
  if (typeof shown === 'string') return shown === '' ? '""' : shown;
  const isPlainList = Array.isArray(shown) && shown.every((item) => typeof item !== 'object');
  return isPlainList && shown.length > 0 ? shown.join(', ') : JSON.stringify(shown);
}
