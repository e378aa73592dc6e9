import type { Config } from '../config/schema.ts';
import type { Io } from './io.ts';

/** Time without a response after which a command says what it waits for, milliseconds. */
const patienceMs = 2_000;

interface Awaited {
  readonly clickhouse: Config['clickhouse'];
  /** Completes "Waiting for ClickHouse to …": `read tails`. */
  readonly doing: string;
  /** Longest wait, milliseconds. @default `clickhouse.request_timeout`, for each request */
  readonly limitMs?: number;
  /** Time after which it gives up where the server responds to no ping, milliseconds. @default never */
  readonly silentMs?: number;
}

/**
 * Says on standard error what a command waits for, once ClickHouse has taken two seconds, and for how long it
 * will.
 *
 * @returns what `work` comes to.
 */
export async function waiting<T>(
  io: Pick<Io, 'err'>,
  { clickhouse, doing, limitMs, silentMs }: Awaited,
  work: () => Promise<T>,
): Promise<T> {
  const { url, request_timeout } = clickhouse;
  const seconds = (ms: number) => `${ms / 1000} s`;
  const silent =
    silentMs === undefined ? '' : `, if the server responds to pings within ${seconds(silentMs)}`;
  const limit =
    limitMs === undefined
      ? `a request may take ${seconds(request_timeout)} (clickhouse.request_timeout)${silent}`
      : `gives up after ${seconds(limitMs)}`;
  const timer = setTimeout(() => {
    io.err(
      `Waiting for ClickHouse at ${url} to ${doing}: ${seconds(patienceMs)} so far; ${limit}\n`,
    );
  }, patienceMs);
  try {
    return await work();
  } finally {
    clearTimeout(timer);
  }
}
