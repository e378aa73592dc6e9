import type { Logger } from '../base/telemetry/log.ts';
import type { Metrics, MetricsSnapshot } from '../base/telemetry/metrics.ts';
import type { Config } from '../config/schema.ts';
import type { Publisher } from '../kafka/client/publisher.ts';
import type { ClickHouseClient } from '../sink/client/clickhouse.ts';

/** Roles of a process: any of them, each scalable alone. */
export const roles = ['assemble', 'ingest', 'detect', 'serve'] as const;
export type Role = (typeof roles)[number];
/** Roles of a process that names none. A separate process assembles traces. */
export const defaultRoles: readonly Role[] = ['ingest', 'detect', 'serve'];

/** Shared by the roles of a process. */
export interface RoleContext {
  readonly config: Config;
  readonly client: ClickHouseClient;
  /** The consumer group in the ledger and in tokens. */
  readonly groupId: string;
  readonly startedMs: number;
  /** Publishes dead letters and anomalies; undefined where events come from a file. */
  readonly publisher: Publisher | undefined;
  readonly stdin: NodeJS.ReadableStream;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** File for CPU profiles: worker n writes `FILE.n`. */
  readonly profile?: string | undefined;
  /** Ends the start early. */
  readonly signal?: AbortSignal | undefined;
}

export interface RunningRole {
  /** Resolves at the end of a finite source; rejects when the work cannot continue; undefined for never. */
  readonly done: Promise<void> | undefined;
  /** Reasons why it is unhealthy; empty when it is healthy. */
  problems(): readonly string[];
  /** Notes for the operator about a healthy role. */
  notes?(): readonly string[];
  /** Metrics of its other threads. */
  threadMetrics?(): Promise<MetricsSnapshot[]>;
  /** Finishes the work in progress and releases everything. */
  stop(): Promise<void>;
}
