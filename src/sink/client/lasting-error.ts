import { type ErrorCode, OperatorError } from '../../base/operator-error.ts';
import type { Config } from '../../config/schema.ts';
import { clickHouseError, errorCodeOf, lastingCodes } from './clickhouse.ts';

/**
 * Time that such an error must last. A migration, a starting server that does not have all tables yet, and a
 * password that is being changed are over by then.
 */
const GRACE_MS = 30_000;

const lasting: ReadonlySet<ErrorCode> = new Set([
  'TAILMARK_CLICKHOUSE_AUTH',
  'TAILMARK_CLICKHOUSE_DENIED',
  'TAILMARK_SCHEMA_MISSING',
  'TAILMARK_KAFKA_AUTH',
  'TAILMARK_KAFKA_DENIED',
  'TAILMARK_KAFKA_TOPIC_MISSING',
]);

/**
 * Recognizes errors of ClickHouse and Kafka that retries do not mend: a missing right, table or topic, a
 * rejected login. Pure: monotonic milliseconds are passed in.
 */
export class LastingError {
  readonly #config: Config['clickhouse'];
  readonly #doing: string;
  #sinceMs: number | undefined;

  /** @param doing completes "Cannot …". */
  constructor(config: Config['clickhouse'], doing: string) {
    this.#config = config;
    this.#doing = doing;
  }

  /** Returns the error to end the process with: after 30 s in which every attempt failed like this. */
  failed(error: unknown, elapsedMs: number): OperatorError | undefined {
    const found = this.reason(error);
    if (found === undefined) this.#sinceMs = undefined;
    else this.#sinceMs ??= elapsedMs;
    const isOver = this.#sinceMs !== undefined && elapsedMs - this.#sinceMs >= GRACE_MS;
    return isOver ? found : undefined;
  }

  succeeded(): void {
    this.#sinceMs = undefined;
  }

  /** Returns the error as one that a retry does not mend; undefined for others. */
  reason(error: unknown): OperatorError | undefined {
    if (error instanceof OperatorError) return lasting.has(error.code) ? error : undefined;
    if (!lastingCodes.has(errorCodeOf(error))) return undefined;
    return clickHouseError(error, this.#doing, this.#config);
  }
}
