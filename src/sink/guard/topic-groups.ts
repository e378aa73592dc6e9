import { OperatorError } from '../../base/operator-error.ts';
import type { Logger } from '../../base/telemetry/log.ts';
import type { Metrics } from '../../base/telemetry/metrics.ts';
import type { ClickHouseClient } from '../clickhouse.ts';
import { readRows } from '../read-query.ts';

export interface TopicGroupsOptions {
  readonly client: ClickHouseClient;
  readonly groupId: string;
  /** Topics that this process stores. */
  readonly topics: readonly string[];
  /** Kafka cluster of the topics: a topic of the same name in another one is another topic. */
  readonly clusterId: () => Promise<string>;
  readonly metrics: Metrics;
  readonly log: Logger;
}

/** Groups that store the topics of this process: each of them counts every event again. */
export class TopicGroups {
  readonly #options: TopicGroupsOptions;
  #clusterId: string | undefined;
  /** Other groups that are logged already. */
  readonly #logged = new Set<string>();

  constructor(options: TopicGroupsOptions) {
    this.#options = options;
  }

  /** @throws OperatorError TAILMARK_GROUP_CONFLICT when another group has stored a topic within a day. */
  async requireNoOther(): Promise<void> {
    const [topic, groups] =
      [...(await this.#others())].find(([, others]) => others.length > 0) ?? [];
    if (groups === undefined) return;
    throw new OperatorError(
      'TAILMARK_GROUP_CONFLICT',
      `Cannot ingest as topic ${topic} must have one consumer group in a database: group ${groups.join(', ')} stored it within the last 24 h, and kafka.group_id is ${this.#options.groupId}`,
      {
        hint:
          'Every event would count twice. Use that group, or a database of its own for this one. ' +
          'ingest.allow_other_groups stores nevertheless.',
      },
    );
  }

  /** Exports the number of groups by topic, and logs each new one once. */
  async observe(): Promise<void> {
    const { groupId, metrics, log } = this.#options;
    for (const [topic, others] of await this.#others()) {
      metrics.topicGroups.set({ topic }, others.length + 1);
      for (const other of others) {
        const key = JSON.stringify([topic, other]);
        if (this.#logged.has(key)) continue;
        this.#logged.add(key);
        const fields = { topic, group_id: groupId, other_group_id: other };
        log.error(fields, 'another group stores the same topic: every event counts twice');
      }
    }
  }

  /** Other groups by topic. */
  async #others(): Promise<Map<string, string[]>> {
    const { client, groupId, topics } = this.#options;
    if (topics.length === 0) return new Map();
    this.#clusterId ??= await this.#options.clusterId();
    type Row = { topic: string; cluster_id: string; groups: string[] };
    const rows = await readRows<Row>(client, 'topic_groups');
    const here = rows.filter(({ cluster_id }) => cluster_id === this.#clusterId);
    const groups = new Map(here.map((row) => [row.topic, row.groups]));
    return new Map(
      topics.map((topic) => [topic, (groups.get(topic) ?? []).filter((id) => id !== groupId)]),
    );
  }
}
