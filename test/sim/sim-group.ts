import type { PartitionLog } from './partition-log.ts';
import type { ScheduledEvent } from './scheduler.ts';
import type { SimWorld } from './sim-world.ts';

export interface JoinRequest {
  readonly memberId: string;
  readonly clientId: string;
  readonly sessionTimeoutMs: number;
  readonly rebalanceTimeoutMs: number;
  readonly protocols: readonly { readonly name: string; readonly metadata: Buffer }[];
}

export interface JoinAnswer {
  readonly generationId: number;
  readonly leaderId: string;
  readonly memberId: string;
  readonly members: readonly { readonly memberId: string; readonly memberMetadata: Buffer }[];
  readonly groupProtocol: string;
}

export type Answer<T> = (answer: { readonly value: T } | { readonly error: string }) => void;

interface Member {
  readonly id: string;
  request: JoinRequest;
  join: Answer<JoinAnswer> | undefined;
  sync: Answer<Buffer> | undefined;
  /** True where it has requested its assignment in this generation. */
  hasSynced: boolean;
  assignment: Buffer;
  session: ScheduledEvent | undefined;
}

export interface Commit {
  readonly offset: string;
  readonly metadata: string;
  /** Number of the request: later commits have greater ones. */
  readonly order: number;
}

type State = 'empty' | 'joining' | 'syncing' | 'stable';

/** Delay after a first member came, in which others may join. */
const INITIAL_DELAY_MS = 300;
/** Time within which a client may have sent another request after a response. */
const MOMENT_MS = 3_000;

/**
 * A consumer group at its coordinator, by the classic protocol (Kafka's GroupMetadataManager, classic
 * groups): members, generations, the barrier of a rebalance, session timeouts and commits. A commit of a
 * member of the current generation is accepted also during a rebalance, and refused while the assignment is
 * awaited.
 */
export class SimGroup {
  readonly #world: SimWorld;
  readonly groupId: string;
  readonly #members = new Map<string, Member>();
  readonly commits = new Map<string, Commit>();
  /** All commits of each log of the present, in the order in which they came. */
  readonly #history = new Map<PartitionLog, Commit[]>();
  /** Time of the last response for which a client had waited. */
  readonly #answeredMs = new Map<string, number>();
  readonly #setBack = new Set<string>();
  readonly #everSetBack = new Set<string>();
  /** Beginnings of chunks whose commit, the intent, an earlier one has replaced: topic/partition/offset. */
  readonly #replaced = new Set<string>();
  /** Start of each log: the first offset that was committed for it. */
  readonly begins = new Map<PartitionLog, number>();
  /** End of each log when the first offset was committed for it: the group began before. */
  readonly beganTo = new Map<PartitionLog, number>();
  /** Events that the first intent of a chunk had counted, by `topic/partition/log/start-end`. */
  readonly promises = new Map<string, number>();
  state: State = 'empty';
  generation = 0;
  #leader = '';
  #barrier: ScheduledEvent | undefined;
  #names = 0;
  #commitCount = 0;

  constructor(world: SimWorld, groupId: string) {
    this.#world = world;
    this.groupId = groupId;
  }

  /** Number of the next requested commit. */
  nextCommit(): number {
    return this.#commitCount++;
  }

  /** Stores a commit, whatever was committed before. */
  commit(log: PartitionLog, commit: Commit): void {
    const key = `${log.topic}/${log.partition}`;
    const history = this.#history.get(log) ?? [];
    this.#history.set(log, [...history, commit]);
    const before = this.commits.get(key);
    this.commits.set(key, commit);
    this.#notePromise(key, commit);
    const isBack = before !== undefined && before.order > commit.order;
    if (!isBack) {
      this.#setBack.delete(key);
      return;
    }
    for (const set of [this.#setBack, this.#everSetBack]) set.add(key);
    this.#replaced.add(`${key}/${before.offset}`);
  }

  /** Commits of a log that was not recreated since, in the order in which they came. */
  historyOf(log: PartitionLog): readonly Commit[] {
    return this.#history.get(log) ?? [];
  }

  #notePromise(key: string, { offset, metadata }: Commit): void {
    if (!metadata.includes('"endOffset"')) return;
    const { logId, intent } = JSON.parse(metadata);
    const chunk = `${key}/${logId}/${offset}-${intent.endOffset}`;
    if (!this.promises.has(chunk)) this.promises.set(chunk, intent.counts.consumed);
  }

  /** True where a delayed commit has ever replaced that of a chunk which begins there. */
  wasReplaced(topic: string, partition: number, startOffset: number): boolean {
    return this.#replaced.has(`${topic}/${partition}/${startOffset}`);
  }

  /** True where a delayed commit came after a later one, and is now the last. */
  isSetBack({ topic, partition }: PartitionLog): boolean {
    return this.#setBack.has(`${topic}/${partition}`);
  }

  /** True where a delayed commit has ever come after a later one. */
  wasSetBack({ topic, partition }: PartitionLog): boolean {
    return this.#everSetBack.has(`${topic}/${partition}`);
  }

  /**
   * True where a client waits for the group, its generation or its assignment, or did so until a moment ago.
   * The response may have been to start again.
   */
  isAwaitedBy(clientId: string): boolean {
    const { nowMs } = this.#world.scheduler;
    if ((this.#answeredMs.get(clientId) ?? Number.NEGATIVE_INFINITY) > nowMs - MOMENT_MS)
      return true;
    return [...this.#members.values()].some(
      ({ request, join, sync }) =>
        request.clientId === clientId && (join !== undefined || sync !== undefined),
    );
  }

  get memberIds(): string[] {
    return [...this.#members.keys()];
  }

  join(request: JoinRequest, answer: Answer<JoinAnswer>): void {
    let member = this.#members.get(request.memberId);
    if (request.memberId !== '' && member === undefined) {
      answer({ error: 'UNKNOWN_MEMBER_ID' });
      return;
    }
    const isNew = member === undefined;
    if (member === undefined) {
      const id = `${request.clientId}-${String(this.#names++).padStart(3, '0')}`;
      member = {
        id,
        request,
        join: undefined,
        sync: undefined,
        hasSynced: false,
        assignment: Buffer.alloc(0),
        session: undefined,
      };
      this.#members.set(id, member);
    }
    member.request = request;
    member.join?.({ error: 'UNKNOWN_MEMBER_ID' });
    member.join = this.#noted(request.clientId, answer);
    if (member.session !== undefined) member.session.isCancelled = true;
    const isFollowerAgain = !isNew && this.#leader !== member.id;
    if (isFollowerAgain && (this.state === 'stable' || this.state === 'syncing')) {
      this.#answerJoin(member);
      return;
    }
    this.#rebalance(this.state === 'empty');
  }

  leave(memberId: string): string | undefined {
    if (!this.#members.has(memberId)) return 'UNKNOWN_MEMBER_ID';
    this.remove(memberId);
    return undefined;
  }

  /** Removes a member: it left, timed out, or was expelled. */
  remove(memberId: string): void {
    const member = this.#members.get(memberId);
    if (member === undefined) return;
    this.#world.trace?.(this.groupId, `${memberId} is out`);
    if (member.session !== undefined) member.session.isCancelled = true;
    this.#members.delete(memberId);
    member.join?.({ error: 'UNKNOWN_MEMBER_ID' });
    member.sync?.({ error: 'UNKNOWN_MEMBER_ID' });
    if (this.state === 'stable' || this.state === 'syncing') this.#rebalance(false);
    else if (this.state === 'joining') this.#completeIfAllJoined();
  }

  sync(
    memberId: string,
    generation: number,
    assignments: ReadonlyMap<string, Buffer>,
    answer: Answer<Buffer>,
  ): void {
    const member = this.#members.get(memberId);
    if (member === undefined) answer({ error: 'UNKNOWN_MEMBER_ID' });
    else if (generation !== this.generation) answer({ error: 'ILLEGAL_GENERATION' });
    else if (this.state === 'joining') answer({ error: 'REBALANCE_IN_PROGRESS' });
    else if (this.state === 'stable') {
      member.hasSynced = true;
      answer({ value: member.assignment });
      this.#keepAlive(member);
    } else {
      member.hasSynced = true;
      member.sync = this.#noted(member.request.clientId, answer);
      if (memberId !== this.#leader) return;
      this.#world.trace?.(this.groupId, `generation ${generation} is assigned by ${memberId}`);
      this.state = 'stable';
      for (const each of this.#members.values()) {
        each.assignment = assignments.get(each.id) ?? Buffer.alloc(0);
        each.sync?.({ value: each.assignment });
        each.sync = undefined;
        this.#keepAlive(each);
      }
    }
  }

  heartbeat(memberId: string, generation: number): string | undefined {
    const member = this.#members.get(memberId);
    if (member === undefined) return 'UNKNOWN_MEMBER_ID';
    if (generation !== this.generation) return 'ILLEGAL_GENERATION';
    this.#keepAlive(member);
    return this.state === 'joining' ? 'REBALANCE_IN_PROGRESS' : undefined;
  }

  /** Returns the error's name where this member may not commit at this moment. */
  refusal(memberId: string, generation: number): string | undefined {
    const member = this.#members.get(memberId);
    if (member === undefined) return 'UNKNOWN_MEMBER_ID';
    if (generation !== this.generation) return 'ILLEGAL_GENERATION';
    if (this.state === 'syncing') return 'REBALANCE_IN_PROGRESS';
    this.#keepAlive(member);
    return undefined;
  }

  /** Forgets the waiting requests, as after a restart of the coordinator: clients send them again. */
  forgetWaiting(): void {
    for (const member of this.#members.values()) {
      member.join = undefined;
      member.sync = undefined;
      this.#keepAlive(member);
    }
    if (this.state === 'syncing') this.#rebalance(false);
  }

  #rebalance(isFirst: boolean): void {
    if (this.state !== 'joining') {
      for (const member of this.#members.values()) {
        member.sync?.({ error: 'REBALANCE_IN_PROGRESS' });
        member.sync = undefined;
      }
      this.state = 'joining';
      const most = Math.max(
        0,
        ...[...this.#members.values()].map(({ request }) => request.rebalanceTimeoutMs),
      );
      this.#barrier = this.#world.scheduler.at(isFirst ? INITIAL_DELAY_MS : most, undefined, () =>
        this.#complete(),
      );
      if (isFirst) return;
    }
    this.#completeIfAllJoined();
  }

  #completeIfAllJoined(): void {
    if (this.generation === 0 && this.#members.size > 0) return; // The first barrier waits.
    for (const member of this.#members.values()) if (member.join === undefined) return;
    this.#complete();
  }

  #complete(): void {
    if (this.#barrier !== undefined) this.#barrier.isCancelled = true;
    this.#barrier = undefined;
    for (const member of [...this.#members.values()]) {
      if (member.join !== undefined) continue;
      this.#world.trace?.(this.groupId, `${member.id} did not rejoin`);
      if (member.session !== undefined) member.session.isCancelled = true;
      this.#members.delete(member.id);
    }
    this.generation++;
    const [first] = this.#members.keys();
    if (first === undefined) {
      this.state = 'empty';
      return;
    }
    if (!this.#members.has(this.#leader)) this.#leader = first;
    this.state = 'syncing';
    this.#world.trace?.(
      this.groupId,
      `generation ${this.generation}: ${this.memberIds.join(', ')}`,
    );
    const { generation } = this;
    const most = Math.max(
      ...[...this.#members.values()].map((each) => each.request.rebalanceTimeoutMs),
    );
    // Also where the leader has synced meanwhile. If its sync failed, kafkajs continues with its old
    // partitions and sends heartbeats in the new generation (GroupMetadataManager, expirePendingSync).
    this.#world.scheduler.at(most, undefined, () => {
      if (this.generation !== generation || this.state === 'joining') return;
      for (const member of [...this.#members.values()]) {
        if (!member.hasSynced) this.remove(member.id);
      }
    });
    for (const member of this.#members.values()) {
      member.hasSynced = false;
      this.#answerJoin(member);
    }
  }

  /** Records the time of a response. */
  #noted<T>(clientId: string, answer: Answer<T>): Answer<T> {
    return (given) => {
      this.#answeredMs.set(clientId, this.#world.scheduler.nowMs);
      answer(given);
    };
  }

  #answerJoin(member: Member): void {
    const protocol = member.request.protocols[0];
    member.join?.({
      value: {
        generationId: this.generation,
        leaderId: this.#leader,
        memberId: member.id,
        groupProtocol: protocol?.name ?? '',
        members:
          member.id !== this.#leader
            ? []
            : [...this.#members.values()].map(({ id, request }) => ({
                memberId: id,
                memberMetadata: request.protocols[0]?.metadata ?? Buffer.alloc(0),
              })),
      },
    });
    member.join = undefined;
    this.#keepAlive(member);
  }

  #keepAlive(member: Member): void {
    if (member.session !== undefined) member.session.isCancelled = true;
    const { sessionTimeoutMs } = member.request;
    member.session = this.#world.scheduler.at(sessionTimeoutMs, undefined, () => {
      if (member.join !== undefined || member.sync !== undefined) return;
      this.#world.trace?.(this.groupId, `${member.id} was silent for ${sessionTimeoutMs} ms`);
      this.remove(member.id);
    });
  }
}
