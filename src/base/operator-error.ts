import { type ExitCode, exitCodes } from './exit-codes.ts';

/** Codes of operator errors; each has an entry in docs/reference/errors.md, which a test holds. */
export const errorCodes = [
  'TAILMARK_USAGE',
  'TAILMARK_CONFIG_INVALID',
  'TAILMARK_CONFIG_UNREADABLE',
  'TAILMARK_KAFKA_UNREACHABLE',
  'TAILMARK_KAFKA_AUTH',
  'TAILMARK_KAFKA_TLS',
  'TAILMARK_KAFKA_TOPIC_MISSING',
  'TAILMARK_KAFKA_FAILED',
  'TAILMARK_CLICKHOUSE_UNREACHABLE',
  'TAILMARK_CLICKHOUSE_AUTH',
  'TAILMARK_CLICKHOUSE_TLS',
  'TAILMARK_CLICKHOUSE_FAILED',
  'TAILMARK_SCHEMA_MISSING',
  'TAILMARK_SCHEMA_CHANGED',
  'TAILMARK_LOCAL_IN_USE',
  'TAILMARK_LOCAL_START_FAILED',
  'TAILMARK_LOCAL_JAVA_MISSING',
  'TAILMARK_LOCAL_ENGINE_MISSING',
  'TAILMARK_PORT_TAKEN',
  'TAILMARK_PATH_UNWRITABLE',
  'TAILMARK_FILE_UNREADABLE',
  'TAILMARK_BATCH_UNREADABLE',
  'TAILMARK_COMMIT_VERSION',
  'TAILMARK_STALLED',
  'TAILMARK_ANOMALY_UNKNOWN',
  'TAILMARK_INTERNAL',
] as const;

export type ErrorCode = (typeof errorCodes)[number];

export interface OperatorErrorOptions {
  /** Remedy, as a sentence with the setting or command. */
  readonly hint?: string;
  /** @default {exitCodes.failed} */
  readonly exitCode?: ExitCode;
  readonly cause?: unknown;
}

/**
 * Error that the operator can fix, printed without a stack; our own bugs are of other classes. The message
 * has the form "Cannot <do> as <field> must <rule>: it is <value>".
 */
export class OperatorError extends Error {
  override readonly name = 'OperatorError';
  readonly code: ErrorCode;
  readonly hint: string | undefined;
  readonly exitCode: ExitCode;

  constructor(code: ErrorCode, message: string, options: OperatorErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    const { hint, exitCode = exitCodes.failed } = options;
    this.code = code;
    this.hint = hint;
    this.exitCode = exitCode;
  }
}
