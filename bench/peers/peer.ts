import { standardStages, totalStage } from '../../src/base/dimensions.ts';
import type { LocalStack } from '../../src/local/stack/local-stack.ts';

/** What a peer is to do: everything in a topic, from its first record to the stored rows. */
export interface PeerTask {
  readonly topic: string;
  /** Consumer group, new. */
  readonly group: string;
  /** Database, new. */
  readonly database: string;
  /** Events in the topic. */
  readonly events: number;
}

export interface RunningPeer {
  /** Its process; undefined where ClickHouse does it alone. */
  readonly pid: number | undefined;
  /** Makes the tables that it writes to; not measured. */
  prepare?(task: PeerTask): Promise<void>;
  /** Resolves when every event is stored and every insert acknowledged, with what else there is to say. */
  ingest(task: PeerTask): Promise<string | undefined>;
  stop(): Promise<void>;
}

/** A way from a topic to tails in ClickHouse. */
export interface Peer {
  readonly name: string;
  /** What it is made of, a line. */
  readonly about: string;
  /** Part of the events that it is given, where it would take all day. @default {1} */
  readonly share?: number;
  start(stack: LocalStack): Promise<RunningPeer>;
  /**
   * A query of what it has stored in the current database: `stage`, `requests`, `sum_ms`, and
   * `quantiles`, those of `peerQuantiles`, over everything.
   */
  readonly sums: string;
}

export const peerQuantiles = [0.5, 0.9, 0.99, 0.999] as const;

/** Those of the bench events, which have no downstream call, and the total. */
export const stageNames: readonly string[] = [
  ...standardStages.filter((stage) => stage !== 'downstream'),
  totalStage,
];

/** Digests as what they are made of, for peers that cannot write ClickHouse's own states. */
export const centroidTable = `CREATE TABLE IF NOT EXISTS tails
(
    window_start DateTime('UTC'),
    model        LowCardinality(String),
    version      LowCardinality(String),
    request_type LowCardinality(String),
    region       LowCardinality(String),
    cold_start   Bool,
    stage        LowCardinality(String),
    requests     UInt64,
    sum_ms       Float64,
    min_ms       Float64,
    max_ms       Float64,
    means        Array(Float32),
    weights      Array(UInt32)
)
ENGINE = MergeTree
ORDER BY (model, stage, window_start)`;

export const centroidSums = `SELECT stage, sum(requests) AS requests, sum(sum_ms) AS sum_ms, any(q) AS quantiles
FROM tails
INNER JOIN
(
    SELECT stage, quantilesTDigestWeighted(${peerQuantiles.join(', ')})(mean, weight) AS q
    FROM tails ARRAY JOIN means AS mean, weights AS weight
    GROUP BY stage
) AS digests USING (stage)
GROUP BY stage`;
