import kafkajs, { type Consumer, type Kafka, type PartitionAssigner } from 'kafkajs';
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/telemetry/log.ts';
import type { Config } from '../../config/schema.ts';
import { kafkaError } from '../client/kafka-client.ts';
import { type Candidate, electLeader } from './elect-leader.ts';
import type { Leadership } from './leadership.ts';

const { AssignerProtocol } = kafkajs;

export interface KafkaLeadershipOptions {
  readonly kafka: Pick<Kafka, 'consumer'>;
  readonly config: Config['kafka'];
  readonly groupId: string;
  /** Its first partition is the lead; nothing is read of it. */
  readonly topic: string;
  /** How long a leader may be silent before another one is chosen. */
  readonly sessionTimeoutMs: number;
  readonly clock: Clock;
  readonly log: Logger;
}

/** What remains of a session is left to what is under way when it ends. */
const LEASE_SHARE = 0.8;
const HEARTBEATS_A_SESSION = 6;
/** Being outside the group for so many sessions is a problem. */
const SESSIONS_TOLERATED = 3;
/** Requests that begin a session anew. */
const renewing: ReadonlySet<string> = new Set(['Heartbeat', 'SyncGroup']);
const leads = Buffer.of(1);

/**
 * The lead of a consumer group: whoever is given the first partition of a topic has it. The others are
 * members as well and stand by: the broker gives the lead to one of them when its holder leaves, or has been
 * silent for a session.
 *
 * A holder that was stopped for a while does not hear of that before its next heartbeat. So the lead is a
 * lease: it is good for less than a session after a heartbeat was *sent* that the broker has answered.
 * The answer to one that was sent before the stop is of no use.
 */
export class KafkaLeadership implements Leadership {
  readonly done: Promise<never>;
  readonly #options: KafkaLeadershipOptions;
  readonly #consumer: Consumer;
  #fail: (error: Error) => void = () => undefined;
  #isHolder = false;
  #renewingMs = Number.NEGATIVE_INFINITY;
  #renewedMs: number;
  #lastError = '';

  private constructor(options: KafkaLeadershipOptions) {
    const { kafka, groupId, sessionTimeoutMs, clock } = options;
    this.#options = options;
    this.#renewedMs = clock.elapsedMs();
    this.#consumer = kafka.consumer({
      groupId,
      sessionTimeout: sessionTimeoutMs,
      rebalanceTimeout: sessionTimeoutMs,
      heartbeatInterval: Math.floor(sessionTimeoutMs / HEARTBEATS_A_SESSION),
      maxWaitTimeInMs: Math.floor(sessionTimeoutMs / HEARTBEATS_A_SESSION / 2),
      allowAutoTopicCreation: false,
      partitionAssigners: [this.#assigner()],
    });
    this.done = new Promise((_, reject) => {
      this.#fail = reject;
    });
    this.done.catch(() => undefined);
  }

  /**
   * Begins to join the group; whether it leads shows later.
   *
   * @throws OperatorError when no broker answers.
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
    if (awayMs < SESSIONS_TOLERATED * sessionTimeoutMs) return [];
    const seconds = Math.round(awayMs / 1000);
    const why = this.#lastError === '' ? '' : `: ${this.#lastError}`;
    return [
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
      // Nothing is read: being given the partition is all there is to it.
      consumer.pause([{ topic }]);
    });
    consumer.on(CRASH, ({ payload }) => this.#onCrash(payload.error, payload.restart));
    try {
      await consumer.connect();
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

  /** A time of the wall clock on the one that never goes back. */
  #elapsedAt(wallMs: number): number {
    const { clock } = this.#options;
    return clock.elapsedMs() - Math.max(0, clock.nowMs() - wallMs);
  }

  /** Gives the lead, which is one partition, to one of the members. */
  #assigner(): PartitionAssigner {
    const { topic } = this.#options;
    const [name, version] = ['tailmark-leader', 1];
    return () => ({
      name,
      version,
      protocol: ({ topics }) => ({
        name,
        metadata: AssignerProtocol.MemberMetadata.encode({
          version,
          topics,
          userData: this.isLeading() ? leads : Buffer.alloc(0),
        }),
      }),
      assign: async ({ members }) => {
        const candidates = members.map(({ memberId, memberMetadata }): Candidate => {
          const userData = AssignerProtocol.MemberMetadata.decode(memberMetadata)?.userData;
          return { memberId, leads: userData?.equals(leads) === true };
        });
        const leader = electLeader(candidates);
        return candidates.map(({ memberId }) => ({
          memberId,
          memberAssignment: AssignerProtocol.MemberAssignment.encode({
            version,
            assignment: memberId === leader ? { [topic]: [0] } : {},
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
    this.#fail(kafkaError(error, 'join the detector group', config));
  }
}
