import { messageOf } from '../../base/failure.ts';
/** kafkajs rejoins the group on an error of this type (runner.js). */
export class RejoinError extends Error {
  readonly type = 'REBALANCE_IN_PROGRESS';

  constructor(cause: unknown) {
    super(messageOf(cause), { cause });
  }
}
