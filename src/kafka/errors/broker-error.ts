import { messageOf } from '../../base/failure.ts';

/**
 * The type that kafkajs gives a broker's error, such as `UNKNOWN_TOPIC_OR_PARTITION`. Undefined for other
 * errors, such as a broken connection.
 */
export function brokerErrorType(error: unknown): string | undefined {
  const isTyped = error instanceof Error && 'type' in error && typeof error.type === 'string';
  return isTyped ? (error.type as string) : undefined;
}

/** kafkajs rejoins the group on an error of this type (runner.js). */
export class RejoinError extends Error {
  readonly type = 'REBALANCE_IN_PROGRESS';

  constructor(cause: unknown) {
    super(messageOf(cause), { cause });
  }
}
