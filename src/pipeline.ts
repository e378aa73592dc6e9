import { systemClock } from './base/clock.ts';
import { OperatorError } from './base/operator-error.ts';
import type { Logger } from './base/telemetry/log.ts';
import { createMetrics, type Metrics } from './base/telemetry/metrics.ts';
import { defaultListen } from './config/http.ts';
import type { Config } from './config/schema.ts';
import { openKafkaPublisher } from './kafka/client/kafka-publisher.ts';
import { ensureTopics, requireTopics } from './kafka/client/kafka-topics.ts';
import type { Publisher } from './kafka/client/publisher.ts';
import { loginsOf } from './kafka/login/logins.ts';
import { startAssemble } from './roles/assemble/assemble-role.ts';
import { createdTopics, requiredTopics } from './roles/assemble/assemble-topics.ts';
import { assemblyWarnings } from './roles/assemble/assembly-warnings.ts';
import { startDetect } from './roles/detect/detect-role.ts';
import { type HealthServerOptions, startHealthServer } from './roles/health-server.ts';
import type { HttpServer } from './roles/http/http-server.ts';
import { startIngest } from './roles/ingest/ingest-role.ts';
import { type Role, type RoleContext, type RunningRole, roles } from './roles/role.ts';
import { startServe } from './roles/serve/serve-role.ts';
import { openClickHouse } from './sink/client/clickhouse.ts';
import { openPingWatch } from './sink/client/ping-watch.ts';
import { requireSchema } from './sink/migrate/migrate.ts';
import { groupIdOf } from './source/group-id.ts';

export { type Role, roles };

export interface PipelineOptions extends Pick<RoleContext, 'stdin' | 'log' | 'profile' | 'signal'> {
  readonly roles: readonly Role[];
  /** @default a set of its own */
  readonly metrics?: Metrics;
}

export interface Pipeline {
  /** Address of /healthz, /readyz and /metrics; undefined where another process has it or may need it. */
  readonly url: string | undefined;
  /** Resolves at the end of a source that has one; rejects when the work cannot go on. */
  readonly done: Promise<void>;
  /** Stores what was read, evaluates what is complete, gives everything back. */
  stop(): Promise<void>;
}

/**
 * The whole flow:
 *
 *     spans in kafka ─> assemble ─> kafka                           assemble: Assembler, a process of its own
 *     kafka ─> decode ─> window + sketch ─> sink ─> ClickHouse      ingest: Ingester, in N workers
 *     ClickHouse ─> baseline ─> detect ─> alert ─> Kafka, webhooks  detect: WindowEvaluator, in one process
 *     ClickHouse ─> dashboard, API                                  serve
 *
 * Health and metrics are served first, so that a long start is visible and probes do not end it.
 *
 * @throws OperatorError when a server, topic or table it needs is not there.
 * @throws LeadershipLost when `signal` ends the start.
 */
export async function startPipeline(config: Config, options: PipelineOptions): Promise<Pipeline> {
  const { log, stdin, metrics = createMetrics(), profile, signal } = options;
  const has = (role: Role) => options.roles.includes(role);
  for (const { what, detail, hint } of assemblyWarnings(config, options.roles)) {
    log.info({ roles: options.roles }, `${what} ${detail}. ${hint}`);
  }
  /** Undoes what was begun, the last first. */
  const undo: (() => Promise<void>)[] = [];
  const stop = async () => {
    for (const step of undo.splice(0).reverse()) await step();
  };
  try {
    const client = openClickHouse(config.clickhouse);
    undo.push(() => client.close());
    // Traces are assembled from Kafka to Kafka.
    if (options.roles.some((role) => role !== 'assemble')) {
      await requireSchema(client, config.clickhouse);
    }
    const startedMs = systemClock.nowMs();
    const groupId = groupIdOf(config, startedMs);
    let publisher: Publisher | undefined;
    const shared = { config, client, groupId, startedMs, stdin, log, metrics, profile, signal };
    const context: RoleContext = {
      ...shared,
      get publisher() {
        return publisher;
      },
    };
    const logins = loginsOf(config.kafka);
    logins.waitForFirst({ log, signal });

    const running: RunningRole[] = [];
    let isStarting = true;
    // A page says itself that ClickHouse is away: a process that only serves it stays reachable.
    const isStoring = has('ingest') || has('detect');
    const pings = isStoring ? openPingWatch(config.clickhouse, { clock: systemClock }) : undefined;
    undo.push(async () => pings?.stop());
    const problems = () => [
      ...silenceOf(pings?.silentMs ?? 0),
      ...(isStarting ? [...logins.problems(), whileStarting(has('detect'))] : []),
      ...running.flatMap((role) => role.problems()),
    ];
    const serving = has('serve') ? startServe(context, running, problems) : undefined;
    undo.push(async () => serving?.stop());
    const health = {
      config,
      metrics,
      log,
      roles: running,
      problems,
      addRoutes: serving?.addRoutes,
    };
    const http = await startHealth(health, has('serve'), log);
    undo.push(async () => http?.close());
    const writes =
      has('assemble') || (config.source.type === 'kafka' && (has('ingest') || has('detect')));
    if (writes) {
      publisher = await openTopics(config, options.roles);
      undo.push(async () => publisher?.close());
    }
    const keep = (role: RunningRole) => {
      running.push(role);
      undo.push(() => role.stop());
    };
    if (has('detect')) keep(await startDetect(context));
    if (has('ingest')) keep(await startIngest(context));
    if (has('assemble')) keep(await startAssemble(context));
    isStarting = false;

    const never = new Promise<never>(() => undefined);
    const done = Promise.race([never, ...running.flatMap((role) => role.done ?? [])]);
    done.catch(() => undefined);
    return { url: http?.url, done, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

const whileStarting = (detects: boolean) =>
  `the process still starts${detects ? '; a detector first loads its state or learns the past' : ''}`;

function silenceOf(ms: number): string[] {
  return ms === 0 ? [] : [`clickhouse: it has not responded for ${Math.round(ms / 1000)} s`];
}

/** Several processes on a host may share a configuration: who has the role `serve` needs the port. */
async function startHealth(
  options: HealthServerOptions,
  isNeeded: boolean,
  log: Logger,
): Promise<HttpServer | undefined> {
  if (!isNeeded && options.config.http.listen === defaultListen) return undefined;
  try {
    return await startHealthServer(options);
  } catch (error) {
    if (isNeeded || !(error instanceof OperatorError)) throw error;
    log.warn(
      { err: error.message, hint: error.hint },
      'this process has no /healthz, /readyz and /metrics: its port is taken',
    );
    return undefined;
  }
}

/** A publisher, and the topics that are ours to write to. */
async function openTopics(config: Config, roles: readonly Role[]): Promise<Publisher> {
  // First, so that a mistyped topic leaves no dead-letter topic behind.
  await requireTopics(config.kafka, requiredTopics(config, roles));
  await ensureTopics(config.kafka, createdTopics(config, roles));
  return openKafkaPublisher(config.kafka);
}
