import type { Logger } from '../base/telemetry/log.ts';
import type { Metrics, MetricsSnapshot } from '../base/telemetry/metrics.ts';
import type { Config } from '../config/schema.ts';
import type { Publisher } from '../kafka/client/publisher.ts';
import type { ClickHouseClient } from '../sink/clickhouse.ts';

/** What the roles of a process share. */
export interface RoleContext {
  readonly config: Config;
  readonly client: ClickHouseClient;
  /** Who consumes, in the ledger and in tokens. */
  readonly groupId: string;
  /** When this run began. */
  readonly startedMs: number;
  /** Takes dead letters and anomalies; undefined where events come from a file. */
  readonly publisher: Publisher | undefined;
  readonly stdin: NodeJS.ReadableStream;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** A file for where CPU time went: worker n writes `FILE.n`. */
  readonly profile?: string | undefined;
}

/** A role at work. */
export interface RunningRole {
  /** Resolves at the end of a source that has one; rejects when the work cannot go on; undefined for never. */
  readonly done: Promise<void> | undefined;
  /** Why it does not do its work; empty when it does. */
  problems(): readonly string[];
  /** What an operator should know although it does. */
  notes?(): readonly string[];
  /** What its other threads count. */
  threadMetrics?(): Promise<MetricsSnapshot[]>;
  /** Ends what is under way, and gives everything back. */
  stop(): Promise<void>;
}
