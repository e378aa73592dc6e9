import { setTimeout as sleep } from 'node:timers/promises';
import { exitCodes } from '../../base/exit-codes.ts';
import { startCpuProfile } from '../../base/telemetry/cpu-profile.ts';
import { createLog } from '../../base/telemetry/log.ts';
import { createMetrics } from '../../base/telemetry/metrics.ts';
import { collectProcessMetrics } from '../../base/telemetry/process-metrics.ts';
import { version } from '../../base/telemetry/version.ts';
import { startPipeline } from '../../pipeline.ts';
import { defaultRoles, roles } from '../../roles/role.ts';
import { problemsOfFiles } from '../../topics/format-plan.ts';
import type { Command } from '../command.ts';
import { rolesOf } from '../flag-values.ts';
import { aborted } from '../io.ts';
import { connectionFlags, loadSettings } from '../load.ts';

export const run: Command = {
  flags: [...connectionFlags, 'source', 'file', 'listen', 'workers'],
  endsInOrder: true,
  help: `
Examples:
  tailmark run --config tailmark.yaml
  tailmark run --roles ingest              one of many consumers in the group
  tailmark run --workers 4                 four consumers on four cores
  tailmark run --profile run.cpuprofile    each worker writes run.cpuprofile.1, .2, ...
  tailmark run --roles detect,serve
  tailmark run --roles assemble            spans to timing events: see the block assemble
  tailmark run --source file --file events.ndjson.gz

SIGTERM and Ctrl-C store what was read and end it within 5 seconds (ingest.stop_timeout): with 0, or
with 1 where ClickHouse took too long; the rest is read again. Logs are JSON lines on standard error.
/healthz, /readyz and /metrics are served at http.listen; without the role serve only where that is
not the default.`,
  configure(command) {
    command
      .option(
        '--roles <LIST>',
        `what this process does, of ${roles.join(',')}`,
        defaultRoles.join(','),
      )
      .option('--profile <FILE>', 'write a CPU profile for speedscope or Chrome DevTools');
  },
  async run(_args, options, io) {
    const chosen = rolesOf(String(options.roles));
    const files = chosen.includes('ingest') ? problemsOfFiles : undefined;
    const { config } = await loadSettings(options, io, files);
    const log = createLog({ level: config.log.level });
    const profile = typeof options.profile === 'string' ? options.profile : undefined;
    const writeProfile = profile === undefined ? undefined : await startCpuProfile(profile);
    const { stdin, signal } = io;
    const stopMs = config.ingest.stop_timeout;
    const metrics = createMetrics();
    collectProcessMetrics(metrics, version());
    const starting = startPipeline(config, { roles: chosen, stdin, log, metrics, profile, signal });
    const isTooLong = aborted(signal).then(() => sleep(stopMs, undefined, { ref: false }));
    const pipeline = await Promise.race([starting, isTooLong]).catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
    if (pipeline === undefined) {
      log.info('stopped while it started; nothing was read');
      return exitCodes.ok;
    }
    log.info(
      { roles: chosen, source: config.source.type, url: pipeline.url },
      pipeline.url === undefined ? 'running' : `running; health and metrics at ${pipeline.url}`,
    );
    let failure: unknown;
    const atEnd = pipeline.done.then(() => true);
    const hasEnded = await Promise.race([atEnd, aborted(signal)]).catch((error: unknown) => {
      failure = error;
      return false;
    });
    const startedMs = performance.now();
    const stopping = pipeline.stop().then(() => true);
    // A finished source gets unlimited time; after a signal the end must come soon.
    const stopped = hasEnded
      ? await stopping
      : await Promise.race([stopping, sleep(stopMs, false, { ref: false })]);
    const tookMs = Math.round(performance.now() - startedMs);
    await writeProfile?.();
    if (failure !== undefined) throw failure;
    if (stopped) {
      log.info(
        { took_ms: tookMs },
        chosen.includes('ingest') ? 'everything read is stored' : 'stopped',
      );
      return exitCodes.ok;
    }
    log.warn({ took_ms: tookMs }, 'not everything read could be stored; it will be read again');
    return exitCodes.failed;
  },
};
