import type { Logger } from '../../src/base/telemetry/log.ts';
import type { Metrics } from '../../src/base/telemetry/metrics.ts';
import type { Config } from '../../src/config/schema.ts';
import { mayBeMissing } from './allowances.ts';
import { KafkaHost } from './kafka-host.ts';
import type { PartitionLog } from './partition-log.ts';
import type { SimClickHouse, SimDatabase } from './sim-clickhouse.ts';
import { simConfig } from './sim-config.ts';
import type { SimGroup } from './sim-group.ts';
import type { SimKafka } from './sim-kafka.ts';
import { SimProcess } from './sim-process.ts';
import { SimLetters } from './sim-publisher.ts';
import type { SimWorld } from './sim-world.ts';
import type { Truth } from './truth.ts';

export interface FleetSetting {
  readonly world: SimWorld;
  readonly clusters: readonly SimKafka[];
  readonly clickhouse: SimClickHouse;
  readonly topics: string[];
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** A consumer group of a cluster, and its outputs. */
export interface FleetGroup {
  readonly kafka: SimKafka;
  readonly group: SimGroup;
  readonly database: SimDatabase;
  readonly letters: SimLetters;
}

/** A slot in which a supervisor starts a process again after its end. */
interface Slot {
  readonly name: string;
  readonly group: FleetGroup;
  config: Config;
  starts: number;
  process: SimProcess | undefined;
  /** True where the supervisor starts it again. */
  isWanted: boolean;
}

/** Time without members before a group's commits expire: days, in reality. */
const AWAY_MS = 50_000;
/** Longest time from SIGTERM to the end of the last process: the drain's limit and a margin. */
const END_MS = 12_000;

/** The processes of a run and their supervisor. */
export class SimFleet {
  readonly #setting: FleetSetting;
  readonly #slots: Slot[] = [];
  readonly groups: FleetGroup[] = [];
  readonly #isWatched: boolean;
  #isHealed = false;

  constructor(setting: FleetSetting) {
    this.#setting = setting;
    const { world, clusters, clickhouse } = setting;
    // kafkajs sends no heartbeat while a clock is behind: only the watchdog ends that.
    this.#isWatched =
      world.faults.has('clock_back') || world.faults.has('clock_wrong') || world.random.chance(0.2);
    const groupIds = world.faults.has('two_groups') ? ['g1', 'g2'] : ['g1'];
    if (groupIds.length > 1) world.faults.note('two_groups');
    if (clusters.length > 1) world.faults.note('two_clusters');
    if (world.faults.has('start_from_latest')) world.faults.note('start_from_latest');
    // Groups of the same name in two clusters share a database.
    for (const kafka of clusters) {
      for (const groupId of groupIds) {
        const letters = new SimLetters();
        const database = clickhouse.database(databaseOf(groupId));
        const group = { kafka, group: kafka.group(groupId), database, letters };
        this.groups.push(group);
        const config = this.#configOf(groupId);
        const isAlone = clusters.length * groupIds.length === 1;
        const count = world.random.between(1, isAlone ? 3 : 2);
        for (let i = 0; i < count; i++) this.#addSlot(group, config);
      }
    }
  }

  get processes(): SimProcess[] {
    return this.#slots.flatMap(({ process }) =>
      process === undefined || process.state === 'dead' ? [] : [process],
    );
  }

  /** Starts every process, most of them at once. */
  async begin(): Promise<void> {
    const { scheduler, random } = this.#setting.world;
    for (const slot of this.#slots) {
      scheduler.at(random.chance(0.7) ? 0 : random.unit() * 8_000, undefined, () =>
        this.#start(slot),
      );
    }
  }

  /** Ends all processes of a group and expires its commits; then starts them again. */
  expireCommits(expiring: FleetGroup, truth: Truth): void {
    const { kafka, group, database } = expiring;
    const { scheduler, trace } = this.#setting.world;
    const slotsNow = () => this.#slots.filter((slot) => slot.group === expiring);
    const endAll = () => {
      for (const slot of slotsNow()) {
        slot.isWanted = false;
        slot.process?.die('its group is to expire');
      }
    };
    endAll();
    this.#setting.world.pending++;
    scheduler.at(AWAY_MS, undefined, () => {
      this.#setting.world.pending--;
      endAll();
      for (const memberId of group.memberIds) group.remove(memberId);
      for (const log of kafka.logs) {
        const commit = group.commits.get(`${log.topic}/${log.partition}`);
        const end = Number(/"endOffset":(\d+)/.exec(commit?.metadata ?? '')?.[1] ?? -1);
        truth.repeat(group.groupId, log, Number(commit?.offset ?? 0), end);
        if (database.hasPartition(group.groupId, kafka.clusterId, log)) continue;
        for (
          let each: PartitionLog | undefined = log;
          each !== undefined;
          each = each.before?.log
        ) {
          group.begins.delete(each);
        }
      }
      group.commits.clear();
      trace?.(group.groupId, 'its commits are gone');
      for (const slot of slotsNow()) {
        slot.isWanted = true;
        this.#start(slot);
      }
    });
  }

  /** Ends all processes of a group, and starts them again after a while, in which something happens. */
  switchOff(group: FleetGroup, ms: number, meanwhile: () => void): void {
    const { world } = this.#setting;
    const slots = this.#slots.filter((slot) => slot.group === group);
    for (const slot of slots) {
      slot.isWanted = false;
      slot.process?.die('its group is switched off');
    }
    world.pending++;
    world.scheduler.at(ms / 2, undefined, meanwhile);
    world.scheduler.at(ms, undefined, () => {
      world.pending--;
      for (const slot of slots) {
        slot.isWanted = true;
        this.#start(slot);
      }
    });
  }

  /** Starts one more process, of the first group. */
  add(): void {
    const first = this.#slots[0];
    if (first === undefined) return;
    this.#start(this.#addSlot(first.group, first.config));
  }

  /** Stops a process; its supervisor starts it again after that. */
  terminate(process: SimProcess): void {
    this.#setting.world.scheduler.at(0, process, () => process.terminate());
  }

  /** Ends all faults: stopped processes resume, and dead ones are started. */
  heal(): void {
    this.#isHealed = true;
    const { scheduler } = this.#setting.world;
    for (const slot of this.#slots) {
      const { process } = slot;
      if (process?.state === 'frozen') scheduler.thaw(process);
      if (process === undefined) continue;
      process.endpoint.cutOffUntilMs = 0;
      // Behind for good, it would read nothing that seems to be of the future.
      process.skewMs = Math.max(process.skewMs, 0);
      for (const connection of [...process.endpoint.connections]) {
        scheduler.at(0, process, () => connection.heal());
      }
    }
    for (const group of this.groups) {
      const slots = this.#slots.filter((slot) => slot.group === group);
      if (slots.some(({ process }) => process?.state === 'up' && !process.isEnding)) continue;
      const [slot] = slots;
      if (slot !== undefined) slot.isWanted = true;
      if (slot !== undefined && slot.process?.state !== 'up') this.#start(slot);
    }
  }

  /** True where every group has stored and committed all that it can read. */
  isSettled(truth: Truth): boolean {
    return this.unsettled(truth) === '';
  }

  /** Describes the records that are not stored yet. */
  unsettled(truth: Truth): string {
    const { faults } = this.#setting.world;
    for (const each of this.groups) {
      const { kafka, group, database } = each;
      for (const log of kafka.logs) {
        const last = lastRecordOf(log);
        if (last === undefined) {
          const removed = this.#unsettledRemoval(each, log);
          if (removed === '') continue;
          return removed;
        }
        const { topic, partition } = log;
        const commit = group.commits.get(`${topic}/${partition}`);
        const committed = Number(commit?.offset ?? -1);
        const isPending = commit?.metadata.includes('"endOffset"') === true;
        // A commit alone may be of the earlier log.
        const end = database.ledgerEndOf(group.groupId, log);
        // Without a commit the ledger gives the start position.
        const isCommitted =
          committed < 0 || (committed > last && !isPending) || group.isSetBack(log);
        if (isCommitted && end !== undefined && end > last) continue;
        // No record of it is promised, and none was stored: the group may have started behind its end.
        const isUnseen = end === undefined && (committed < 0 || (committed > last && !isPending));
        const lastRecord = truth.readable(log).at(-1);
        if (isUnseen && lastRecord && mayBeMissing(lastRecord, truth, each, faults)) continue;
        return (
          `${group.groupId} ${topic}/${partition} is committed up to ${committed}` +
          `${isPending ? ' with an intent' : ''}, stored up to ${end ?? 0}, of ${last + 1}`
        );
      }
    }
    return '';
  }

  /** Describes what was removed of an emptied log and is in no row yet. */
  #unsettledRemoval({ group, database }: FleetGroup, log: PartitionLog): string {
    const { topic, partition, low } = log;
    if (!this.#setting.world.faults.has('log_emptied') || !group.begins.has(log)) return '';
    const committed = Number(group.commits.get(`${topic}/${partition}`)?.offset ?? -1);
    const reached = Math.max(committed, database.ledgerEndOf(group.groupId, log) ?? -1);
    if (reached < 0 || reached >= low || group.isSetBack(log)) return '';
    return `${group.groupId} ${topic}/${partition} is stored up to ${reached}, and emptied up to ${low}`;
  }

  /**
   * Sends SIGTERM to all; each must drain in time. Processes that were stopped during faults are not judged.
   * Nor are those killed while they wait for the group, as kafkajs does not leave a join that others delay.
   * Their stored data counts like all else.
   */
  async end(): Promise<string[]> {
    const { scheduler } = this.#setting.world;
    for (const slot of this.#slots) slot.isWanted = false;
    const last = this.processes;
    const judged = last.filter(({ isEnding }) => !isEnding);
    for (const process of last) this.terminate(process);
    await scheduler.runTo(scheduler.nowMs + END_MS, () =>
      last.every(({ state }) => state === 'dead'),
    );
    const isWaiting = ({ name }: SimProcess) =>
      this.groups.some(({ group }) => group.isAwaitedBy(name));
    return (
      judged
        // A death that was drawn before the last fault may come after it.
        .filter(
          ({ goneBecause }) => goneBecause !== 'it has drained' && goneBecause !== 'at a call',
        )
        .filter((process) => !isWaiting(process))
        .map(({ name, goneBecause }) => `${name} did not drain: ${goneBecause}`)
    );
  }

  #configOf(groupId: string): Config {
    const { world, topics } = this.#setting;
    return simConfig(world.random, world.faults, { groupId, topics, isLive: world.isLive });
  }

  #addSlot(group: FleetGroup, config: Config): Slot {
    const name = `p${this.#slots.length + 1}`;
    const slot: Slot = { name, group, config, starts: 0, process: undefined, isWanted: true };
    this.#slots.push(slot);
    return slot;
  }

  #start(slot: Slot): void {
    if (!slot.isWanted || (slot.process !== undefined && slot.process.state !== 'dead')) return;
    const { world, clickhouse, log, metrics } = this.#setting;
    const { kafka, letters } = slot.group;
    const { groupId } = slot.group.group;
    if (world.faults.has('config_changed')) slot.config = this.#configOf(groupId);
    slot.starts++;
    const skewMs = world.random.between(-200, 200);
    const process = new SimProcess(`${slot.name}.${slot.starts}`, skewMs, {
      world,
      kafka,
      clickhouse,
      letters,
      database: databaseOf(groupId),
      config: slot.config,
      log,
      metrics,
      isWatched: this.#isWatched,
      client: (clientId) => KafkaHost.client(clientId, kafka),
      onGone: () => this.#restart(slot),
    });
    slot.process = process;
    world.trace?.(process.name, 'starts');
    world.scheduler.at(0, process, () => process.start());
  }

  /** Starts it again soon, or later. */
  #restart(slot: Slot): void {
    const { scheduler, random } = this.#setting.world;
    const delayMs = this.#isHealed || random.chance(0.7) ? 1_000 : random.unit() * 40_000;
    scheduler.at(delayMs, undefined, () => this.#start(slot));
  }
}

function databaseOf(groupId: string): string {
  return `of_${groupId}`;
}

/** Offset of the last visible record; undefined where there is none. */
function lastRecordOf(log: PartitionLog): number | undefined {
  for (let i = log.entries.length - 1; i >= 0; i--) {
    const entry = log.entries[i];
    if (entry?.kind === 'data') return entry.offset;
  }
  return undefined;
}
