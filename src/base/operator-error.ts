import { type ExitCode, exitCodes } from './exit-codes.ts';

/** Codes of operator errors and their exit codes; a test compares them with docs/reference/errors.md. */
export const errorCodes = {
  TAILMARK_USAGE: exitCodes.usage,
  TAILMARK_CONFIG_INVALID: exitCodes.config,
  TAILMARK_CONFIG_UNREADABLE: exitCodes.config,
  TAILMARK_KAFKA_UNREACHABLE: exitCodes.unavailable,
  TAILMARK_KAFKA_AUTH: exitCodes.config,
  TAILMARK_KAFKA_LOGIN_LOST: exitCodes.unavailable,
  TAILMARK_KAFKA_DENIED: exitCodes.config,
  TAILMARK_KAFKA_TLS: exitCodes.config,
  TAILMARK_KAFKA_TOPIC_MISSING: exitCodes.unavailable,
  TAILMARK_KAFKA_FAILED: exitCodes.unavailable,
  TAILMARK_CLICKHOUSE_UNREACHABLE: exitCodes.unavailable,
  TAILMARK_CLICKHOUSE_AUTH: exitCodes.config,
  TAILMARK_CLICKHOUSE_DENIED: exitCodes.config,
  TAILMARK_CLICKHOUSE_TLS: exitCodes.config,
  TAILMARK_CLICKHOUSE_SETTINGS: exitCodes.config,
  TAILMARK_CLICKHOUSE_FAILED: exitCodes.unavailable,
  TAILMARK_CLICKHOUSE_UNSUPPORTED: exitCodes.config,
  TAILMARK_SCHEMA_MISSING: exitCodes.config,
  TAILMARK_SCHEMA_CHANGED: exitCodes.config,
  TAILMARK_SCHEMA_NEWER: exitCodes.config,
  TAILMARK_SCHEMA_LOCKED: exitCodes.unavailable,
  TAILMARK_GROUP_CONFLICT: exitCodes.config,
  TAILMARK_GROUP_SHARED: exitCodes.config,
  TAILMARK_LOCAL_IN_USE: exitCodes.unavailable,
  TAILMARK_LOCAL_START_FAILED: exitCodes.unavailable,
  TAILMARK_LOCAL_JAVA_MISSING: exitCodes.unavailable,
  TAILMARK_LOCAL_ENGINE_MISSING: exitCodes.unavailable,
  TAILMARK_PORT_TAKEN: exitCodes.unavailable,
  TAILMARK_PATH_UNWRITABLE: exitCodes.unavailable,
  TAILMARK_FILE_UNREADABLE: exitCodes.usage,
  TAILMARK_BATCH_UNREADABLE: exitCodes.failed,
  TAILMARK_COMMIT_VERSION: exitCodes.config,
  TAILMARK_STALLED: exitCodes.unavailable,
  TAILMARK_ANOMALY_UNKNOWN: exitCodes.failed,
  TAILMARK_MUTE_UNKNOWN: exitCodes.failed,
  TAILMARK_RECEIVER_UNKNOWN: exitCodes.failed,
  TAILMARK_INTERNAL: exitCodes.internal,
} as const;

export type ErrorCode = keyof typeof errorCodes;

export interface OperatorErrorOptions {
  /** Remedy, as a sentence with the setting or command. */
  readonly hint?: string | undefined;
  /** @default {that of the error code} */
  readonly exitCode?: ExitCode | undefined;
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
    this.code = code;
    this.hint = options.hint;
    this.exitCode = options.exitCode ?? errorCodes[code];
  }
}
