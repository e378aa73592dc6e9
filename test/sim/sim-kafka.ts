import type { Endpoint } from './endpoint.ts';
import { PartitionLog } from './partition-log.ts';
import { SimGroup } from './sim-group.ts';
import type { SimWorld } from './sim-world.ts';

/** A broker of the cluster. */
export interface KafkaNode {
  readonly nodeId: number;
  readonly host: string;
  readonly port: number;
  isUp: boolean;
  /** Incremented when it closes all connections. */
  epoch: number;
}

/** The brokers of a cluster: logs, groups and their commits. All of it survives any restart. */
export class SimKafka {
  readonly #world: SimWorld;
  readonly clusterId: string;
  readonly nodes: readonly KafkaNode[];
  readonly #topics = new Map<string, PartitionLog[]>();
  /** Logs of deleted topics, with their records. */
  readonly retired: PartitionLog[] = [];
  #topicCount = 0;
  readonly #groups = new Map<string, SimGroup>();
  readonly #waiting = new Set<() => void>();
  /** Clients of the brokers, by client id. */
  readonly endpoints = new Map<string, Endpoint>();
  /** Longest wait of a fetch at the broker where there is nothing to read. */
  readonly idleFetchMs: number;
  /** Called for each partition before it is read from an offset on, with the reader. */
  beforeFetch: (log: PartitionLog, offset: number, reader: string) => void = () => undefined;

  constructor(world: SimWorld, clusterId: string, nodeCount: number, idleFetchMs: number) {
    this.#world = world;
    this.clusterId = clusterId;
    this.idleFetchMs = idleFetchMs;
    this.nodes = Array.from({ length: nodeCount }, (_, i) => ({
      nodeId: i + 1,
      host: `${clusterId}-${i + 1}`,
      port: 9092,
      isUp: true,
      epoch: 0,
    }));
  }

  get topics(): string[] {
    return [...this.#topics.keys()];
  }

  createTopic(topic: string, partitionCount: number): readonly PartitionLog[] {
    // Clusters give the same ids: only those of the clusters differ.
    const logId = `${this.clusterId}/id${++this.#topicCount}`;
    const logs = Array.from(
      { length: partitionCount },
      (_, partition) => new PartitionLog({ topic, partition, logId }),
    );
    this.#topics.set(topic, logs);
    return logs;
  }

  addPartition(topic: string): PartitionLog {
    const logs = this.logsOf(topic);
    const addedMs = this.#world.epochMs + Math.floor(this.#world.scheduler.nowMs);
    const { logId = '' } = logs[0] ?? {};
    const log = new PartitionLog({ topic, partition: logs.length, logId }, { addedMs });
    logs.push(log);
    return log;
  }

  /** Elects a leader that lacks a log's end, from an offset on. */
  truncate(log: PartitionLog, at: number): PartitionLog {
    const { addedMs } = log;
    const next = new PartitionLog(log, { addedMs, before: { log, at } });
    this.logsOf(log.topic)[log.partition] = next;
    this.retired.push(log);
    for (const { begins } of this.#groups.values()) {
      const begin = begins.get(log);
      if (begin !== undefined) begins.set(next, begin);
    }
    return next;
  }

  /** Deletes the topic and the groups' commits for it. */
  deleteTopic(topic: string): void {
    for (const log of this.logsOf(topic)) {
      log.isDeleted = true;
      this.retired.push(log);
    }
    this.#topics.delete(topic);
    for (const group of this.#groups.values()) {
      for (const key of [...group.commits.keys()]) {
        if (key.startsWith(`${topic}/`)) group.commits.delete(key);
      }
    }
    // A broker that gives up a partition responds to its waiting fetches at once.
    this.wake();
  }

  logsOf(topic: string): PartitionLog[] {
    return this.#topics.get(topic) ?? [];
  }

  logOf(topic: string, partition: number): PartitionLog | undefined {
    return this.#topics.get(topic)?.[partition];
  }

  topicIdOf(topic: string): string | undefined {
    return this.logsOf(topic)[0]?.logId.split('/')[1];
  }

  /** Logs of all topics, deleted and truncated ones too. */
  get everyLog(): PartitionLog[] {
    return [...this.retired, ...this.logs];
  }

  get logs(): PartitionLog[] {
    return [...this.#topics.values()].flat();
  }

  group(groupId: string): SimGroup {
    let group = this.#groups.get(groupId);
    if (group === undefined) {
      group = new SimGroup(this.#world, groupId);
      this.#groups.set(groupId, group);
    }
    return group;
  }

  leaderOf(partition: number): KafkaNode {
    return this.nodes[partition % this.nodes.length] as KafkaNode;
  }

  coordinatorOf(groupId: string): KafkaNode {
    return this.nodes[groupId.length % this.nodes.length] as KafkaNode;
  }

  nodeAt(host: string): KafkaNode {
    return this.nodes.find((node) => node.host === host) as KafkaNode;
  }

  /** Breaks all connections of the broker; it returns after a while. */
  restart(node: KafkaNode, awayMs: number): void {
    node.isUp = false;
    node.epoch++;
    for (const endpoint of this.endpoints.values()) endpoint.breakConnections(node);
    for (const log of this.logs) if (this.leaderOf(log.partition) === node) log.elect();
    this.#world.trace?.(node.host, `away for ${Math.round(awayMs)} ms`);
    this.#world.scheduler.at(awayMs, undefined, () => {
      node.isUp = true;
      for (const group of this.#groups.values()) {
        if (this.coordinatorOf(group.groupId) === node) group.forgetWaiting();
      }
    });
  }

  /** Wakes waiting fetches after a write. */
  wake(): void {
    for (const look of [...this.#waiting]) look();
  }

  /** Calls `look` after each write; returns a function that ends it. */
  onWrite(look: () => void): () => void {
    this.#waiting.add(look);
    return () => this.#waiting.delete(look);
  }
}
