import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from '@clickhouse/client';
import { type Peer, peerQuantiles, stageNames } from './peer.ts';

const stages = stageNames.filter((stage) => stage !== 'total');
const digest = `quantilesTDigest${'State'}(${peerQuantiles.join(', ')})`;

/** The JSON is read into a typed tuple: nothing is looked up by name. */
const queue = (broker: string, topic: string, group: string) => `CREATE TABLE queue
(
    ts UInt64, model LowCardinality(String), version LowCardinality(String),
    request_type LowCardinality(String), region LowCardinality(String), cold_start Bool,
    total_ms Float64, stages_ms Tuple(${stages.map((stage) => `${stage} Float64`).join(', ')})
)
ENGINE = Kafka
SETTINGS kafka_broker_list = '${broker}', kafka_topic_list = '${topic}', kafka_group_name = '${group}',
    kafka_format = 'JSONEachRow', kafka_num_consumers = 2, kafka_thread_per_consumer = 1,
    kafka_max_block_size = 1048576, kafka_poll_max_batch_size = 1048576,
    kafka_flush_interval_ms = 1000, input_format_skip_unknown_fields = 1`;

/** A column a stage rather than a row: one look-up of the key an event. */
const table = `CREATE TABLE tails
(
    window_start DateTime('UTC'), model LowCardinality(String), version LowCardinality(String),
    request_type LowCardinality(String), region LowCardinality(String), cold_start Bool,
    requests SimpleAggregateFunction(sum, UInt64),
    ${stageNames
      .map(
        (stage) => `${stage}_sum SimpleAggregateFunction(sum, Float64),
    ${stage}_min SimpleAggregateFunction(min, Float64),
    ${stage}_max SimpleAggregateFunction(max, Float64),
    ${stage} AggregateFunction(quantilesTDigest(${peerQuantiles.join(', ')}), Float32)`,
      )
      .join(',\n    ')}
)
ENGINE = AggregatingMergeTree
ORDER BY (model, window_start, version, request_type, region, cold_start)`;

const view = `CREATE MATERIALIZED VIEW fill TO tails AS
SELECT toDateTime(intDiv(toUInt64(ts + total_ms), 10000) * 10, 'UTC') AS window_start,
    model, version, request_type, region, cold_start, count() AS requests,
    ${stageNames
      .map((stage) => {
        const ms = stage === 'total' ? 'total_ms' : `stages_ms.${stage}`;
        return (
          `sum(${ms}) AS ${stage}_sum, min(${ms}) AS ${stage}_min, max(${ms}) AS ${stage}_max, ` +
          `${digest}(toFloat32(${ms})) AS ${stage}`
        );
      })
      .join(',\n    ')}
FROM queue
GROUP BY window_start, model, version, request_type, region, cold_start`;

/** ClickHouse reads the topic itself, as its own documentation and its users tune it. */
export const clickHouseKafkaEngine: Peer = {
  name: 'ClickHouse Kafka engine',
  about: 'Kafka table (JSONEachRow, typed tuple, 2 consumers, 1 M rows a block), view, states',
  async start({ clickhouse: { url }, kafka: { brokers } }) {
    return {
      pid: undefined,
      async ingest({ topic, group, database, events }) {
        const client = createClient({ url, database });
        const command = (query: string) => client.command({ query });
        await command(table);
        await command(queue(brokers[0] as string, topic, group));
        await command(view);
        for (;;) {
          const answer = await client.query({
            query: 'SELECT toUInt64(sum(requests)) AS n FROM tails',
            format: 'JSONEachRow',
          });
          const [row] = await answer.json<{ n: string }>();
          if (Number(row?.n) >= events) break;
          await sleep(50);
        }
        await command('DROP VIEW fill');
        await command('DROP TABLE queue');
        await client.close();
      },
      stop: async () => undefined,
    };
  },
  sums: stageNames
    .map(
      (stage) =>
        `SELECT '${stage}' AS stage, sum(requests) AS requests, sum(${stage}_sum) AS sum_ms, ` +
        `quantilesTDigestMerge(${peerQuantiles.join(', ')})(${stage}) AS quantiles FROM tails`,
    )
    .join('\nUNION ALL\n'),
};
