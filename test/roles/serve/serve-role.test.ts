import { request } from 'node:http';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createLog } from '../../../src/base/telemetry/log.ts';
import { createMetrics } from '../../../src/base/telemetry/metrics.ts';
import { loadConfig } from '../../../src/config/load/load-config.ts';
import { startHealthServer } from '../../../src/roles/health-server.ts';
import type { HttpServer } from '../../../src/roles/http/http-server.ts';
import { type Serving, startServe } from '../../../src/roles/serve/serve-role.ts';
import type { ClickHouseClient } from '../../../src/sink/client/clickhouse.ts';

const { config } = loadConfig({
  env: {
    ...{ TAILMARK_KAFKA_BROKERS: 'localhost:9092', TAILMARK_KAFKA_TOPICS: 'events' },
    TAILMARK_HTTP_LISTEN: '127.0.0.1:0',
  },
  readFile: () => '',
});

let serving: Serving;
let server: HttpServer;
beforeAll(async () => {
  const metrics = createMetrics();
  const log = createLog({ level: 'silent' });
  const context = {
    ...{ config, metrics, log, groupId: 'g' },
    client: {} as ClickHouseClient,
  };
  serving = startServe(context as Parameters<typeof startServe>[0], [], () => []);
  const { addRoutes } = serving;
  server = await startHealthServer({
    ...{ config, metrics, log, roles: [], problems: () => [], addRoutes },
  });
});
afterAll(async () => {
  serving.stop();
  await server.close();
});

/** Status, kind and `Allow` of an answer to a request with this `Host`. */
function ask(method: string, path: string, host: string) {
  const { port } = new URL(server.url);
  return new Promise<unknown[]>((resolve, reject) => {
    const sent = request(
      { host: '127.0.0.1', port, method, path, headers: { host } },
      (response) => {
        response.resume().on('end', () => {
          const { 'content-type': type, allow } = response.headers;
          resolve([response.statusCode, type, allow]);
        });
      },
    );
    sent.on('error', reject).end();
  });
}

const text = 'text/plain';
const problem = 'application/problem+json';
it.each([
  ['GET', '/healthz', 200, text, undefined],
  ['POST', '/healthz', 405, problem, 'GET, HEAD'],
  ['GET', '/assets/none.js', 404, text, undefined],
  ['POST', '/assets/none.js', 405, problem, 'GET, HEAD'],
  ['GET', '/nothing', 404, problem, undefined],
  ['GET', '/v1', 404, problem, undefined],
  ['GET', '/anomalies/a', 308, undefined, undefined],
  ['GET', '/v1/nothing', 404, problem, undefined],
  ['GET', '/v1/../v1/nothing', 404, problem, undefined],
  ['POST', '/v1/models', 405, problem, 'GET, HEAD'],
  ['GET', '/v1/login', 404, problem, undefined],
  ['GET', '/v1/%76erdict', 400, problem, undefined],
  ['POST', '/openapi.json', 405, problem, 'GET, HEAD'],
  ['HEAD', '/openapi.json', 200, 'application/json', undefined],
  ['OPTIONS', '/v1/mutes', 405, problem, 'GET, HEAD, POST'],
  ['TRACE', '/v1/mutes', 405, problem, 'GET, HEAD, POST'],
])('%s %s is %i', async (method, path, ...answer) => {
  expect(await ask(method, path, 'localhost')).toEqual(answer);
});

it.each([
  ['/healthz', 200, text],
  ['/nothing', 404, problem],
  ['/assets/none.js', 403, text],
  ['/', 403, text],
  ['/openapi.json', 403, problem],
  ['/v1/%76erdict', 403, problem],
  ['/v1/nothing', 403, problem],
])('without a login, %s is %i under another name than localhost', async (path, ...answer) => {
  expect((await ask('GET', path, 'attacker.example')).slice(0, 2)).toEqual(answer);
});
