import { systemClock } from '../base/clock.ts';
import { Failure } from '../base/failure.ts';
import type { Config } from '../config/schema.ts';
import {
  type ClickHouseClient,
  clickHouseError,
  openClickHouse,
  silentServer,
} from '../sink/client/clickhouse.ts';
import { openPingWatch, pingLimits } from '../sink/client/ping-watch.ts';
import type { Io } from './io.ts';
import { waiting } from './waiting.ts';

/**
 * Lends a client to `use`, and closes it afterwards. Once a request has taken two seconds, standard error
 * says so.
 *
 * @param doing action for the messages: `read tails`
 * @throws {OperatorError} for errors of ClickHouse, and once it has not responded to pings for some seconds
 */
export async function withClickHouse<T>(
  { clickhouse }: Config,
  io: Pick<Io, 'err'>,
  doing: string,
  use: (client: ClickHouseClient) => Promise<T>,
): Promise<T> {
  const client = openClickHouse(clickhouse);
  const silence = new Failure();
  const watch = openPingWatch(clickhouse, {
    clock: systemClock,
    onSilent: (ms) => silence.reject(silentServer(doing, clickhouse.url, ms)),
  });
  const { silentMs } = pingLimits;
  // Requests that run at the same time wait for the same server: one of them says so.
  let isSaid = false;
  const once = {
    err(text: string) {
      if (!isSaid) io.err(text);
      isSaid = true;
    },
  };
  try {
    const announcing = announced(client, (request) =>
      waiting(once, { clickhouse, doing, silentMs }, request),
    );
    return await Promise.race([use(announcing), silence.promise]);
  } catch (error) {
    throw clickHouseError(error, doing, clickhouse);
  } finally {
    watch.stop();
    await client.close();
  }
}

const requests: ReadonlySet<PropertyKey> = new Set(['query', 'exec', 'insert', 'command']);

/** The same client; each of its requests is made by `announce`. */
function announced(
  client: ClickHouseClient,
  announce: <T>(request: () => Promise<T>) => Promise<T>,
): ClickHouseClient {
  return new Proxy(client, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      if (!requests.has(name)) return value.bind(target);
      return (...given: readonly unknown[]) => announce(() => value.apply(target, given));
    },
  });
}
