import { OperatorError } from '../../base/operator-error.ts';
import type { Logger } from '../../base/telemetry/log.ts';
import type { Metrics } from '../../base/telemetry/metrics.ts';
import { dayMs } from '../../base/time.ts';
import { durationText } from '../../contract/format.ts';
import type { ClickHouseClient } from '../client/clickhouse.ts';
import { readRows } from '../client/read-query.ts';

export interface TopicGroupsOptions {
  readonly client: ClickHouseClient;
  readonly groupId: string;
  /** Topics that this process stores. */
  readonly topics: readonly string[];
  /** `ingest.allow_other_groups`: another group is a note and no problem. */
  readonly isAllowed: boolean;
  readonly metrics: Metrics;
  readonly log: Logger;
}

/** A group that has stored chunks of a topic's log. */
export interface StoringGroup {
  readonly topic: string;
  /** `<cluster id>/<topic id>` */
  readonly log: string;
  readonly groupId: string;
  readonly storedMs: number;
  /** Time since then, by the server's clock. */
  readonly ageMs: number;
}

/** A group that has stored nothing for longer has stopped, or has nothing to store. */
const RUNNING_MS = 300_000;
/** A group that has stored nothing for longer is out of use. */
const GIVEN_UP_MS = dayMs;

/**
 * @param logIds ids of the topics' logs, by topic.
 * @param isFromBeginning whether the group would begin with all that Kafka has of a topic.
 * @throws OperatorError TAILMARK_GROUP_CONFLICT when another group has stored one of them within a day, or
 *   ever, if this one has not and would store all of it again.
 */
export async function requireNoOtherGroup(
  client: ClickHouseClient,
  groupId: string,
  logIds: ReadonlyMap<string, string>,
  isFromBeginning: (topic: string) => boolean,
): Promise<void> {
  const groups = await storingGroups(client);
  for (const [topic, log] of logIds) {
    const others = conflictingGroups(groups, groupId, { topic, log }, isFromBeginning(topic));
    if (others.length > 0) throw groupConflict(groupId, topic, others);
  }
}

/** Groups that have stored what this one would store, the latest first. */
export function conflictingGroups(
  groups: readonly StoringGroup[],
  groupId: string,
  { topic, log }: Pick<StoringGroup, 'topic' | 'log'>,
  isFromBeginning: boolean,
): StoringGroup[] {
  const ofLog = groups.filter((each) => each.topic === topic && each.log === log);
  const others = ofLog.filter((each) => each.groupId !== groupId);
  const isNew = others.length === ofLog.length;
  return isNew && isFromBeginning ? others : others.filter(isInUse);
}

function isInUse({ ageMs }: StoringGroup): boolean {
  return ageMs < GIVEN_UP_MS;
}

/** @param others at least one, the latest first. */
export function groupConflict(
  groupId: string,
  topic: string,
  others: readonly StoringGroup[],
): OperatorError {
  const named = others.map((other) => {
    const time = new Date(other.storedMs).toISOString();
    return `${other.groupId} (${durationText(other.ageMs)} ago, at ${time})`;
  });
  return new OperatorError(
    'TAILMARK_GROUP_CONFLICT',
    `Cannot ingest as topic ${topic} must have one consumer group in a database: ${groupsText(named)} stored it, and kafka.group_id is ${groupId}`,
    {
      hint:
        'While two groups store it, every event counts twice, and so does all that Kafka still has of it: stop ' +
        'the other one, use that group, or give this one a database of its own. Where the other one was a ' +
        'mistake and has stopped, set ingest.allow_other_groups until 24 h after its last chunk. Where this is ' +
        'its new name, end it with SIGTERM, copy its offsets to this group, and set that too.',
    },
  );
}

/** Groups that store the topics of this process: each of them counts every event again. */
export class TopicGroups {
  readonly #options: TopicGroupsOptions;
  /** Other groups that are logged already. */
  readonly #logged = new Set<string>();
  #running: readonly StoringGroup[] = [];

  constructor(options: TopicGroupsOptions) {
    this.#options = options;
  }

  /**
   * Looks for groups that have stored the log which this group stored last. Exports their number by topic, and
   * logs each new one once.
   */
  async observe(): Promise<void> {
    const { client, topics } = this.#options;
    if (topics.length === 0) return;
    this.found((await storingGroups(client)).filter(isInUse));
  }

  /** @param groups all groups in use, the latest of a topic first. */
  found(groups: readonly StoringGroup[]): void {
    const { groupId, topics, metrics, log } = this.#options;
    const running: StoringGroup[] = [];
    for (const topic of topics) {
      const isOwn = (each: StoringGroup) => each.groupId === groupId && each.topic === topic;
      const own = groups.filter(isOwn).sort((a, b) => a.ageMs - b.ageMs)[0];
      const others = own === undefined ? [] : othersOf(groups, groupId, topic, own.log);
      metrics.topicGroups.set({ topic }, others.length + 1);
      running.push(...others.filter(({ ageMs }) => ageMs < RUNNING_MS));
      for (const other of others) {
        const key = JSON.stringify([topic, other.log, other.groupId]);
        if (this.#logged.has(key)) continue;
        this.#logged.add(key);
        const fields = { topic, group_id: groupId, other_group_id: other.groupId };
        log.error(
          { ...fields, other_stored_at: new Date(other.storedMs).toISOString() },
          'another group has stored the same topic: while both do, every event counts twice',
        );
      }
    }
    this.#running = running;
  }

  problems(): string[] {
    return this.#options.isAllowed ? [] : this.#texts();
  }

  notes(): string[] {
    return this.#options.isAllowed ? this.#texts() : [];
  }

  #texts(): string[] {
    return [...new Set(this.#running.map(({ topic }) => topic))].map((topic) => {
      const others = this.#running.filter((other) => other.topic === topic);
      const names = groupsText(others.map((other) => other.groupId));
      return `ingest: ${names} ${others.length > 1 ? 'store' : 'stores'} topic ${topic} into the same database: every event counts twice`;
    });
  }
}

async function storingGroups(client: ClickHouseClient): Promise<StoringGroup[]> {
  type Row = Record<'topic' | 'log' | 'group_id' | 'stored_ms' | 'age_ms', string>;
  const rows = await readRows<Row>(client, 'topic_groups');
  return rows.map(({ topic, log, group_id, stored_ms, age_ms }) => {
    return { topic, log, groupId: group_id, storedMs: Number(stored_ms), ageMs: Number(age_ms) };
  });
}

function othersOf(
  groups: readonly StoringGroup[],
  groupId: string,
  topic: string,
  log: string,
): StoringGroup[] {
  return groups.filter(
    (each) => each.topic === topic && each.log === log && each.groupId !== groupId,
  );
}

/** "group a", "groups a and b", "groups a, b and c". */
function groupsText(names: readonly string[]): string {
  const [last = '', ...others] = [...names].reverse();
  return others.length === 0
    ? `group ${last}`
    : `groups ${others.reverse().join(', ')} and ${last}`;
}
