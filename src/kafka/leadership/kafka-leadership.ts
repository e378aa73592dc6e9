import kafkajs, { type Consumer, type Kafka, type PartitionAssigner } from 'kafkajs';
import type { Clock } from '../../base/clock.ts';
import { Failure } from '../../base/failure.ts';
import type { Logger } from '../../base/telemetry/log.ts';
import type { Config } from '../../config/schema.ts';
import { kafkaError } from '../client/kafka-client.ts';
import { decodeMember, encodeMemberData } from '../group/member-data.ts';
import { type Logins, loginsOf } from '../login/logins.ts';
import { KafkaHandover } from './kafka-handover.ts';
import type { Handover, Leadership } from './leadership.ts';

const { AssignerProtocol } = kafkajs;

export interface KafkaLeadershipOptions {
  readonly kafka: Pick<Kafka, 'consumer' | 'admin'>;
  readonly config: Config['kafka'];
  readonly groupId: string;
  /** Its first partition stands for the leadership; nothing is read from it. */
  readonly topic: string;
  /** The database: each has its own leader. */
  readonly storeId: string;
  /** Time without heartbeats after which another leader is elected. */
  readonly sessionTimeoutMs: number;
  readonly clock: Clock;
  readonly log: Logger;
}

/** The rest of the session is left for work in progress when the lease ends. */
const LEASE_SHARE = 0.8;
const HEARTBEATS_A_SESSION = 6;
/** Sessions outside the group before that is a problem. */
const SESSIONS_TOLERATED = 3;
/** Requests that renew the session. */
const renewing: ReadonlySet<string> = new Set(['Heartbeat', 'SyncGroup']);

/** A member of the group; `leads` is its own claim to lead. */
interface Candidate {
  readonly memberId: string;
  /** Topic and database of the detector that it would lead; each pair has its own. */
  readonly topic: string;
  readonly storeId: string | undefined;
  readonly leads: boolean;
}

/**
 * Leader election by a consumer group: the member that is assigned the first partition of a topic leads. The
 * other members stand by. Where databases share a group, each has a leader: nothing is read, so several members
 * may be assigned that partition. The broker reassigns the partition when the leader leaves or misses a session
 * timeout.
 *
 * A suspended leader notices the loss only at its next heartbeat. So leadership is a lease: it lasts for less
 * than a session after a heartbeat was *sent* to which the broker has responded. The response to a heartbeat
 * sent before the suspension does not renew it.
 */
export class KafkaLeadership implements Leadership {
  readonly #failure = new Failure();
  readonly done: Promise<never>;
  readonly handover: Handover;
  readonly #options: KafkaLeadershipOptions;
  readonly #consumer: Consumer;
  readonly #logins: Logins;
  #isHolder = false;
  #renewingMs = Number.NEGATIVE_INFINITY;
  #renewedMs: number;
  #lastError = '';

  private constructor(options: KafkaLeadershipOptions) {
    const { kafka, groupId, sessionTimeoutMs, clock } = options;
    this.#options = options;
    this.#renewedMs = clock.elapsedMs();
    this.#logins = loginsOf(options.config);
    this.done = Promise.race([this.#failure.promise, this.#logins.lost]);
    this.done.catch(() => undefined);
    this.#consumer = kafka.consumer({
      groupId,
      sessionTimeout: sessionTimeoutMs,
      rebalanceTimeout: sessionTimeoutMs,
      heartbeatInterval: Math.floor(sessionTimeoutMs / HEARTBEATS_A_SESSION),
      maxWaitTimeInMs: Math.floor(sessionTimeoutMs / HEARTBEATS_A_SESSION / 2),
      allowAutoTopicCreation: false,
      partitionAssigners: [this.#assigner()],
    });
    this.handover = new KafkaHandover({ ...options, consumer: this.#consumer });
  }

  /**
   * Starts to join the group. `isLeading` shows the result later.
   *
   * @throws OperatorError when no broker responds.
   */
  static async open(options: KafkaLeadershipOptions): Promise<KafkaLeadership> {
    const leadership = new KafkaLeadership(options);
    await leadership.#start();
    return leadership;
  }

  isLeading(): boolean {
    return this.#isHolder && this.#sinceRenewedMs() < LEASE_SHARE * this.#options.sessionTimeoutMs;
  }

  problems(): readonly string[] {
    const { groupId, sessionTimeoutMs } = this.#options;
    const awayMs = this.#sinceRenewedMs();
    const refused = this.#logins.problems();
    if (awayMs < SESSIONS_TOLERATED * sessionTimeoutMs) return refused;
    const seconds = Math.round(awayMs / 1000);
    const why = this.#lastError === '' ? '' : `: ${this.#lastError}`;
    return [
      ...refused,
      `detect: not in the group ${groupId} for ${seconds} s, so it cannot lead or stand by${why}`,
    ];
  }

  async stop(): Promise<void> {
    this.#isHolder = false;
    await this.#consumer.disconnect().catch(() => undefined);
  }

  async #start(): Promise<void> {
    const { topic, config } = this.#options;
    const consumer = this.#consumer;
    const { REQUEST, HEARTBEAT, GROUP_JOIN, CRASH } = consumer.events;
    consumer.on(REQUEST, ({ payload }) => {
      if (renewing.has(payload.apiName)) this.#renewingMs = this.#elapsedAt(payload.sentAt);
    });
    consumer.on(HEARTBEAT, () => this.#renew());
    consumer.on(GROUP_JOIN, ({ payload }) => {
      this.#renew();
      this.#isHolder = (payload.memberAssignment[topic] ?? []).includes(0);
      // Nothing is read: the assignment alone matters.
      consumer.pause([{ topic }]);
    });
    consumer.on(CRASH, ({ payload }) => this.#onCrash(payload.error, payload.restart));
    try {
      await this.#logins.connect(consumer);
      await consumer.subscribe({ topics: [topic] });
    } catch (error) {
      throw kafkaError(error, 'join the detector group', config);
    }
    const eachBatch = async () => undefined;
    void consumer
      .run({ autoCommit: false, eachBatch })
      .catch((error) => this.#onCrash(error, false));
  }

  #renew(): void {
    this.#renewedMs = this.#renewingMs;
  }

  #sinceRenewedMs(): number {
    return this.#options.clock.elapsedMs() - this.#renewedMs;
  }

  /** Converts a wall-clock time to the monotonic clock. */
  #elapsedAt(wallMs: number): number {
    const { clock } = this.#options;
    return clock.elapsedMs() - Math.max(0, clock.nowMs() - wallMs);
  }

  /** Assigns the one partition that stands for leadership to one member. */
  #assigner(): PartitionAssigner {
    const { topic, storeId } = this.#options;
    const [name, version] = ['tailmark-leader', 1];
    return () => ({
      name,
      version,
      protocol: ({ topics }) => ({
        name,
        metadata: AssignerProtocol.MemberMetadata.encode({
          version,
          topics,
          userData: encodeMemberData({ storeId, leads: this.isLeading() }),
        }),
      }),
      assign: async ({ members }) => {
        const candidates = members.map(({ memberId, memberMetadata }): Candidate => {
          const { topics, data } = decodeMember(memberId, memberMetadata);
          const isLeading = data.leads === true;
          return { memberId, topic: topics[0] ?? topic, storeId: data.storeId, leads: isLeading };
        });
        return candidates.map((candidate) => ({
          memberId: candidate.memberId,
          memberAssignment: AssignerProtocol.MemberAssignment.encode({
            version,
            assignment: isElected(candidate, candidates) ? { [candidate.topic]: [0] } : {},
            userData: Buffer.alloc(0),
          }),
        }));
      },
    });
  }

  #onCrash(error: Error, restart: boolean): void {
    const { log, config, groupId } = this.#options;
    this.#lastError = error.message;
    if (restart) {
      log.warn({ err: error.message, group: groupId }, 'detector group consumer failed; rejoining');
      return;
    }
    this.#isHolder = false;
    this.#failure.reject(kafkaError(error, 'join the detector group', config));
  }
}

/** True where a candidate leads among those for the same topic and database. */
export function isElected(candidate: Candidate, all: readonly Candidate[]): boolean {
  const { topic, storeId } = candidate;
  const rivals = all.filter((each) => each.topic === topic && each.storeId === storeId);
  return electLeader(rivals) === candidate.memberId;
}

/**
 * Elects the leader. The current leader stays, so a member that joins or leaves changes nothing for the
 * others. Without one the first member id wins.
 */
export function electLeader(
  members: readonly Pick<Candidate, 'memberId' | 'leads'>[],
): string | undefined {
  const leading = members.filter(({ leads }) => leads);
  const among = leading.length > 0 ? leading : members;
  return among.map(({ memberId }) => memberId).sort()[0];
}
