import type { Config } from '../config/schema.ts';
import type { Io } from './io.ts';

/** Time without a response after which a command says what it waits for, milliseconds. */
const silentMs = 2_000;

interface Awaited {
  readonly clickhouse: Config['clickhouse'];
  /** Completes "Waiting for ClickHouse to …": `read tails`. */
  readonly doing: string;
  /** Longest wait, milliseconds. @default `clickhouse.request_timeout`, for each request */
  readonly limitMs?: number;
}

/**
 * Says on standard error what a command waits for, once ClickHouse has taken two seconds, and for how long it
 * will.
 *
 * @returns what `work` comes to.
 */
export async function waiting<T>(
  io: Pick<Io, 'err'>,
  { clickhouse, doing, limitMs }: Awaited,
  work: () => Promise<T>,
): Promise<T> {
  const { url, request_timeout } = clickhouse;
  const limit =
    limitMs === undefined
      ? `a request may take ${request_timeout / 1000} s (clickhouse.request_timeout)`
      : `gives up after ${limitMs / 1000} s`;
  const timer = setTimeout(() => {
    io.err(`Waiting for ClickHouse at ${url} to ${doing}: ${silentMs / 1000} s so far; ${limit}\n`);
  }, silentMs);
  try {
    return await work();
  } finally {
    clearTimeout(timer);
  }
}
