import { Hono } from 'hono';
import { createMetrics } from '../../../src/base/telemetry/metrics.ts';
import { http } from '../../../src/config/http.ts';
import { Access } from '../../../src/roles/serve/access/access.ts';
import { guardData } from '../../../src/roles/serve/access/guard-data.ts';
import { addApi } from '../../../src/roles/serve/api/api.ts';
import type { ApiSources } from '../../../src/roles/serve/api/sources.ts';
import { QueryLimiter } from '../../../src/roles/serve/http/query-limiter.ts';

interface Parts {
  readonly hasOperators?: boolean;
  /** @default this machine needs no login */
  readonly access?: Access;
}

/** The API as the role serve has it. */
export function apiApp(sources: ApiSources, { hasOperators = false, ...parts }: Parts = {}) {
  const { log } = sources;
  const app = new Hono();
  const open = () => new Access({ http: http.parse({}), log, elapsedMs: () => 0 });
  guardData(app, parts.access ?? open(), log);
  addApi(app, sources, hasOperators, new QueryLimiter({ metrics: createMetrics() }));
  return app;
}

const address = '127.0.0.1';
/** A request of this machine, for those that are made without a server. */
export const onLoopback = {
  incoming: {
    socket: { localAddress: address, remoteAddress: address },
    headers: { host: address },
  },
};
