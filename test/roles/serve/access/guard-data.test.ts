import { expect, it } from 'vitest';
import { createLog } from '../../../../src/base/telemetry/log.ts';
import type { ApiSources } from '../../../../src/roles/serve/api/sources.ts';
import { apiApp, onLoopback } from '../api-app.ts';

const sources = { log: createLog({ level: 'silent' }) } as Partial<ApiSources> as ApiSources;

it.each([
  ['PUT', '/v1/verdict', 405, 'GET, HEAD', '/v1/verdict takes GET, HEAD; this is PUT.'],
  ['GET', '/v1/gate/promote', 405, 'POST', '/v1/gate/promote takes POST; this is GET.'],
  ['PATCH', '/v1/mutes', 405, 'GET, HEAD, POST', '/v1/mutes takes GET, HEAD, POST; this is PATCH.'],
  ['GET', '/v1/mutes/3f', 405, 'DELETE', '/v1/mutes/3f takes DELETE; this is GET.'],
  [
    ...(['GET', '/v1/x', 404, null] as const),
    '/v1/x is no path of this API. /openapi.json has all of them.',
  ],
  [
    ...(['GET', '/v1/mutes/3f/x', 404, null] as const),
    '/v1/mutes/3f/x is no path of this API. /openapi.json has all of them.',
  ],
])('%s %s is %i, and says what there is', async (method, path, status, allow, detail) => {
  const response = await apiApp(sources).request(path, { method }, onLoopback);
  expect([response.status, response.headers.get('allow'), await response.json()]).toMatchObject([
    ...[status, allow],
    { status, detail },
  ]);
});
