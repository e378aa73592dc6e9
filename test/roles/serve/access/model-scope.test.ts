// Covers src/roles/serve/api/operations.ts.

import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getRequestListener } from '@hono/node-server';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../../src/base/clock.ts';
import { createLog } from '../../../../src/base/telemetry/log.ts';
import { createMetrics } from '../../../../src/base/telemetry/metrics.ts';
import { http } from '../../../../src/config/http.ts';
import { loadConfig } from '../../../../src/config/load/load-config.ts';
import { Problem } from '../../../../src/roles/http/problem.ts';
import { Access } from '../../../../src/roles/serve/access/access.ts';
import { operations } from '../../../../src/roles/serve/api/operations.ts';
import type { ApiSources } from '../../../../src/roles/serve/api/sources.ts';
import { addDashboard } from '../../../../src/roles/serve/dashboard/dashboard.ts';
import { endpoints } from '../../../../src/roles/serve/dashboard/endpoints.ts';
import { QueryLimiter } from '../../../../src/roles/serve/http/query-limiter.ts';
import type { Mute } from '../../../../src/sink/anomalies/mute-store.ts';
import type { ClickHouseClient } from '../../../../src/sink/client/clickhouse.ts';
import { UnknownName } from '../../../../src/views/unknown-name.ts';
import { apiApp } from '../api-app.ts';

const folder = mkdtempSync(join(tmpdir(), 'tailmark-scope-'));
const digest = (text: string) => createHash('sha256').update(text).digest('hex');
const tokensFile = join(folder, 'tokens');
writeFileSync(
  tokensFile,
  [
    `ann ${digest('token of ann')}`,
    `deployer ${digest('token of deployer')} models=ranker*,search`,
    `bob ${digest('token of bob')} operate`,
  ].join('\n'),
);

/** What a question that came through is answered with. */
const through = new Problem(503, 'It came through.');
const fail = () => Promise.reject(through);
const log = createLog({ level: 'silent' });
const mutes: Mute[] = [];
const hidesModels: (boolean | undefined)[] = [];
const sources: ApiSources = {
  log,
  nowMs: () => Date.UTC(2026, 10, 1),
  verdict: (release) => {
    hidesModels.push(release.hidesModels);
    return fail();
  },
  objectiveMs: () => 100,
  autoscaling: () => {
    throw through;
  },
  mutes: fail,
  putMute: async (mute) => {
    mutes.push(mute);
    return [];
  },
  endMute: async (_, by) => {
    const [mute] = mutes;
    return mute && { ...mute, endedBy: by };
  },
};
const { config } = loadConfig({
  env: { TAILMARK_KAFKA_BROKERS: 'localhost:9092', TAILMARK_KAFKA_TOPICS: 'events' },
  readFile: () => '',
});
let progressFails: () => Promise<never> = fail;
const access = new Access({
  ...{ http: http.parse({ auth: { tokens_file: tokensFile } }), log, elapsedMs: () => 0 },
});
const app = apiApp(sources, { access });
addDashboard(app, {
  ...{ config, clock: systemClock, facts: fail, progress: () => progressFails() },
  limiter: new QueryLimiter({ metrics: createMetrics() }),
  client: {} as ClickHouseClient,
});
const server = createServer(getRequestListener(app.fetch));
let url = '';
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
  rmSync(folder, { recursive: true, force: true });
});

async function ask(name: string, method: string, path: string, body?: object) {
  const response = await fetch(url + path, {
    method: method.toUpperCase(),
    headers: { authorization: `Bearer token of ${name}` },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const { detail = '' } = (await response.json().catch(() => ({}))) as { detail?: string };
  return { status: response.status, detail };
}

/** Parameters that each question takes, beside its model. */
const needed: Readonly<Record<string, string>> = {
  '/v1/verdict': '&version=v2&baseline=v1',
  '/v1/gate/promote': '&version=v2&baseline=v1',
  '/v1/gate/rollback': '&version=v2&baseline=v1',
  '/v1/autoscale': '&q=0.99',
};
const all = [
  ...endpoints.map(({ path }) => ({ method: 'get', path: String(path) })),
  ...operations
    .filter((of) => of.access !== 'everybody')
    .map(({ method, path }) => ({ method, path })),
].map(({ method, path }) => ({ method, path: path.replace(/\{\w+\}/, 'a1') }));

/** Requests that are about one model. The rest is for tokens of all models, but for the document. */
const aboutOne = [
  ...['/v1/models', '/v1/tails', '/v1/composition', '/v1/density', '/v1/facets', '/v1/requests'],
  ...['/v1/goodput', '/v1/lengths'],
  ...['/v1/releases', '/v1/versions', '/v1/compare', '/v1/verdict', '/v1/autoscale'],
  ...['/v1/gate/promote', '/v1/gate/rollback'],
];

describe('a token of some models', () => {
  it.each(all)('reads nothing of others: $method $path', async ({ method, path }) => {
    const more = needed[path] ?? '';
    const isOpen = path === '/openapi.json';
    const other = await ask('deployer', method, `${path}?model=other${more}`);
    expect(other.status).toBe(isOpen ? 400 : 403);
    const none = await ask('deployer', method, `${path}?${more.slice(1)}`);
    const isGate = path.startsWith('/v1/gate/');
    expect(none.status).toBe(isOpen ? 200 : isGate ? 400 : 403);
    const both = await ask('deployer', method, `${path}?model=ranker&model=other${more}`);
    expect(both.status).toBe(isOpen || isGate ? 400 : 403);
    const own = await ask('deployer', method, `${path}?model=ranker-2${more}`);
    expect(own.status).toBe(isOpen ? 400 : aboutOne.includes(path) ? 503 : 403);
  });

  it('gets no answer at the root of the API, as all others', async () => {
    expect((await ask('deployer', 'get', '/v1')).status).toBe(403);
    expect((await ask('ann', 'get', '/v1')).status).toBe(404);
    expect((await ask('nobody', 'get', '/v1')).status).toBe(401);
  });

  it('says what it reads', async () => {
    const alone = 'This token reads the models ranker*, search alone, and';
    expect((await ask('deployer', 'get', '/v1/pipeline')).detail).toBe(
      `${alone} /v1/pipeline is not about one model.`,
    );
    expect((await ask('deployer', 'get', '/v1/tails?model=other')).detail).toBe(
      'model must be one that this token reads (ranker*, search); it is "other".',
    );
  });

  it('may name its model in the body of a gate, and no other', async () => {
    const metadata = { version: 'v2', baseline: 'v1' };
    const gate = (model: string) =>
      ask('deployer', 'post', '/v1/gate/promote', { metadata: { ...metadata, model } });
    expect((await gate('search')).status).toBe(503);
    expect((await gate('other')).status).toBe(403);
  });

  it('learns no names of others from a verdict', async () => {
    hidesModels.length = 0;
    const metadata = { model: 'search', version: 'v2', baseline: 'v1' };
    for (const name of ['deployer', 'ann']) {
      await ask(name, 'get', '/v1/verdict?model=search&version=v2&baseline=v1');
      await ask(name, 'post', '/v1/gate/promote', { metadata });
    }
    expect(hidesModels).toEqual([true, true, undefined, undefined]);
  });

  it('learns no names of others from a mistyped one', async () => {
    progressFails = () =>
      Promise.reject(
        new UnknownName('No event of model rankr; seen: other.', {
          ...{ thing: 'model', model: 'rankr', name: 'rankr', known: ['other'] },
        }),
      );
    const limited = await ask('deployer', 'get', '/v1/tails?model=rankerx');
    const whole = await ask('ann', 'get', '/v1/tails?model=rankerx');
    progressFails = fail;
    expect(limited).toEqual({ status: 404, detail: 'What is named has never been stored.' });
    expect(whole).toEqual({ status: 404, detail: 'No event of model rankr; seen: other.' });
  });

  it.each(all)('is not needed to read all: $method $path', async ({ method, path }) => {
    const { status } = await ask('ann', method, `${path}?model=other${needed[path] ?? ''}`);
    const isChange = path.startsWith('/v1/mutes') && method !== 'get';
    expect([400, 503].includes(status) || (isChange && status === 403)).toBe(true);
  });
});

describe('a token with operate', () => {
  const mute = {
    ...{ models: ['ranker'], from_ms: Date.UTC(2026, 10, 1), until_ms: Date.UTC(2026, 10, 2) },
    ...{ why: 'load test', who: 'somebody else' },
  };

  it('changes mutes under its own name', async () => {
    expect((await ask('bob', 'post', '/v1/mutes', mute)).status).toBe(201);
    expect(mutes.map(({ who, onBehalfOf }) => [who, onBehalfOf])).toEqual([
      ['bob', 'somebody else'],
    ]);
    const { who: _, ...nameless } = mute;
    expect((await ask('bob', 'post', '/v1/mutes', nameless)).status).toBe(201);
    expect(mutes.at(-1)).toMatchObject({ who: 'bob', onBehalfOf: undefined });
    expect((await ask('bob', 'delete', '/v1/mutes/a1')).status).toBe(200);
  });

  it('changes nothing by the cookie of a session, which a browser sends by itself', async () => {
    const session = access.openSession('token of bob', {
      ...{ socket: { remoteAddress: '127.0.0.1' }, headers: {} },
    } as never);
    const response = await fetch(`${url}/v1/mutes`, {
      ...{ method: 'POST', body: JSON.stringify(mute) },
      headers: { cookie: session.split(';')[0] ?? '' },
    });
    expect(response.status).toBe(403);
  });

  it.each(['ann', 'deployer'])('is needed to change mutes: %s has none', async (name) => {
    expect((await ask(name, 'post', '/v1/mutes', mute)).status).toBe(403);
    expect((await ask(name, 'delete', '/v1/mutes/a1')).status).toBe(403);
  });
});

it.each(['operat', 'operate models=ranker', 'models=', 'models=ranker,,search', 'models=a b', 'x'])(
  'a line of a token with "%s" opens nothing',
  (scope) => {
    const path = join(folder, 'wrong');
    writeFileSync(path, `eve ${digest('token of eve')} ${scope}\n`);
    expect(
      () =>
        new Access({ http: http.parse({ auth: { tokens_file: path } }), log, elapsedMs: () => 0 }),
    ).toThrow(
      'line 1 may have operate or models=PATTERN,PATTERN after its SHA-256, and nothing else',
    );
  },
);
