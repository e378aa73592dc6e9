import type { Admin } from 'kafkajs';
import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/failure.ts';
import type { OperatorError } from '../../base/operator-error.ts';
import { retry } from '../../base/retry.ts';
import type { Logger } from '../../base/telemetry/log.ts';
import { findMembers } from './find-group.ts';
import { ownersByTopic, sharedGroup, takenTopic } from './group-stores.ts';
import { encodeMemberData } from './member-data.ts';

export interface StoreMembershipOptions {
  readonly groupId: string;
  readonly topics: readonly string[];
  /** The database of this member. */
  readonly storeId: string;
  readonly admin: Pick<Admin, 'describeGroups'>;
  readonly clock: Pick<Clock, 'nowMs' | 'sleep'>;
  readonly log: Logger | undefined;
}

const FIRST_RETRY_MS = 200;
const LAST_RETRY_MS = 5_000;

/**
 * Membership in a group for one database. The member that assigns leaves out those whose topics belong to
 * another database (see `ownersByTopic`). The broker does not say so to them: each looks at the members itself
 * after it has joined.
 */
export class StoreMembership {
  readonly #options: StoreMembershipOptions;
  /** Data of this member for the others of the group. */
  readonly userData: Buffer;
  #joins = 0;
  #isStopped = false;

  constructor(options: StoreMembershipOptions) {
    this.#options = options;
    const { storeId, clock } = options;
    this.userData = encodeMemberData({ storeId, sinceMs: clock.nowMs() });
  }

  /**
   * Looks at the members of the generation that was joined.
   *
   * @returns why this member must not stay; undefined when it may, or when it has joined again meanwhile.
   */
  async joined(): Promise<OperatorError | undefined> {
    const { groupId, topics, storeId, admin, clock, log } = this.#options;
    this.#joins++;
    const joins = this.#joins;
    const members = await retry(() => findMembers(admin, groupId), {
      ...{ clock, firstMs: FIRST_RETRY_MS, longestMs: LAST_RETRY_MS },
      isOver: () => joins !== this.#joins || this.#isStopped,
      onError: (error, waitMs) =>
        log?.warn(
          { group: groupId, err: messageOf(error), retry_ms: waitMs },
          'members of the consumer group could not be read; retrying',
        ),
    });
    const owners = ownersByTopic(members ?? []);
    const taken = takenTopic({ topics, data: { storeId } }, owners);
    if (taken === undefined) return undefined;
    return sharedGroup(groupId, taken.topic, `${taken.owner.memberId} uses another one`);
  }

  /** Logs the members of other databases, which get no partition of the topics here. */
  leftOut(memberIds: readonly string[]): void {
    const { groupId, log } = this.#options;
    log?.error(
      { group: groupId, members: memberIds },
      'members of the consumer group store a topic into another database: they get no partition of it. ' +
        'Give each deployment a kafka.group_id of its own',
    );
  }

  stop(): void {
    this.#isStopped = true;
  }
}
