import { setMaxListeners } from 'node:events';
import type {
  ClickHouseClient,
  ClickHouseSettings,
  ExecParams,
  QueryParams,
} from '@clickhouse/client';
import { endingSettings, sharePermittedSettings } from './query-settings.ts';

/**
 * The same client for reading. Its queries end with a signal here and on the server, until an answer begins
 * to come. Those of a user of `readonly = 1`, who may send no settings, run on there.
 */
export function endingWith(
  client: ClickHouseClient,
  signal: AbortSignal,
  settings: ClickHouseSettings = {},
): ClickHouseClient {
  // Each query listens, and one answer has a dozen: Node would warn of a leak.
  setMaxListeners(0, signal);
  const ended = <P extends QueryParams | ExecParams>(params: P): P => {
    // The client does not look at what is over before it begins.
    signal.throwIfAborted();
    const clickhouse_settings = { ...endingSettings, ...settings, ...params.clickhouse_settings };
    return { ...params, abort_signal: signal, clickhouse_settings };
  };
  const ending = new Proxy(client, {
    get(target, name) {
      if (name === 'query') return async (params: QueryParams) => target.query(ended(params));
      if (name === 'exec') return async (params: ExecParams) => target.exec(ended(params));
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  sharePermittedSettings(ending, client);
  return ending;
}
