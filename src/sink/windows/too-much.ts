import { ClickHouseError } from '@clickhouse/client';
import { OperatorError } from '../../base/operator-error.ts';

/**
 * ClickHouse errors for a query that exceeds a limit, with the limiting setting: MEMORY_LIMIT_EXCEEDED,
 * TIMEOUT_EXCEEDED, TOO_SLOW, TOO_MANY_ROWS, TOO_MANY_BYTES, TOO_MANY_ROWS_OR_BYTES. Source: ClickHouse,
 * src/Common/ErrorCodes.cpp.
 */
const limitingSettings: ReadonlyMap<string, string> = new Map([
  ['241', 'max_memory_usage'],
  ['159', 'max_execution_time'],
  ['160', 'max_execution_time'],
  ['158', 'max_rows_to_read'],
  ['307', 'max_bytes_to_read'],
  ['396', 'max_result_bytes'],
]);

/** The setting whose limit a query exceeded; undefined for other errors. */
export function limitingSetting(error: unknown): string | undefined {
  if (error instanceof ClickHouseError) return limitingSettings.get(error.code);
  // The client's own error.
  const isTimeout = error instanceof Error && /^Timeout error/.test(error.message);
  return isTimeout ? 'clickhouse.request_timeout' : undefined;
}

/** Error for a piece that is too large and cannot be smaller. */
export function oneIsTooMuch(piece: string, error: unknown, setting: string): OperatorError {
  const message = (error as Error).message.split('\n', 1)[0];
  return new OperatorError(
    'TAILMARK_CLICKHOUSE_FAILED',
    `Cannot read for the detector: ${setting} must allow for ${piece} (${message})`,
    {
      hint: `Raise ${setting}, or use fewer dimensions: each series and stage takes some kilobytes.`,
      cause: error,
    },
  );
}
