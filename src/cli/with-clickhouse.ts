import type { Config } from '../config/schema.ts';
import {
  type ClickHouseClient,
  clickHouseError,
  openClickHouse,
} from '../sink/client/clickhouse.ts';
import type { Io } from './io.ts';
import { waiting } from './waiting.ts';

/**
 * Lends a client to `use`, and closes it afterwards. Once a request has taken two seconds, standard error
 * says so.
 *
 * @param doing action for the messages: `read tails`
 * @throws {OperatorError} for errors of ClickHouse
 */
export async function withClickHouse<T>(
  { clickhouse }: Config,
  io: Pick<Io, 'err'>,
  doing: string,
  use: (client: ClickHouseClient) => Promise<T>,
): Promise<T> {
  const client = openClickHouse(clickhouse);
  // Requests that run at the same time wait for the same server: one of them says so.
  let isSaid = false;
  const once = {
    err(text: string) {
      if (!isSaid) io.err(text);
      isSaid = true;
    },
  };
  try {
    return await use(announced(client, (request) => waiting(once, { clickhouse, doing }, request)));
  } catch (error) {
    throw clickHouseError(error, doing, clickhouse);
  } finally {
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
