// Covers src/roles/serve/api/gate.ts and src/roles/serve/http/explain-request.ts.

import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { OperatorError } from '../../../../src/base/operator-error.ts';
import { createLog } from '../../../../src/base/telemetry/log.ts';
import type { Verdict } from '../../../../src/compare/comparison.ts';
import { http } from '../../../../src/config/http.ts';
import { anomalyEventSchema } from '../../../../src/contract/anomaly-event.ts';
import { nothingWrong } from '../../../../src/roles/detect/completeness/completeness.ts';
import { Access } from '../../../../src/roles/serve/access/access.ts';
import type { ApiSources, ReleaseVerdict } from '../../../../src/roles/serve/api/sources.ts';
import type { Mute } from '../../../../src/sink/anomalies/mute-store.ts';
import { apiApp, onLoopback } from '../api-app.ts';

const token = 'an-operator-token-of-the-test';
const nowMs = Date.UTC(2026, 10, 1, 12);
const reason = 'p99 is 1.5 times that of version v1 (412 ms against 275 ms)';

const comparison = (verdict: Verdict): ReleaseVerdict => ({
  verdict,
  reason,
  missing_requests: verdict === 'inconclusive' ? 2_400 : 0,
  minutes: 9,
  requests: { candidate: 5_400, baseline: 5_400 },
  failures: { candidate: 0, baseline: 0, candidate_share: 0, baseline_share: 0 },
  ...{ failed_at: null, failed_by: null, failed_stage: null, failed_objective: null },
  ...{ tested_stages: ['total'], tested_objectives: [] },
  quantiles: [],
  stages: [],
  goodput: [],
  since: '2026-11-01T11:50:00.000Z',
});

/** What the sources answer; an error is an outage. */
let verdict: Verdict | Error = 'pass';
let queueMs: number | undefined = 75;
const asked: unknown[] = [];
const mutes: Mute[] = [];

const sources: ApiSources = {
  log: createLog({ level: 'silent' }),
  nowMs: () => nowMs,
  async verdict(release) {
    asked.push(release);
    if (verdict instanceof Error) throw verdict;
    return comparison(verdict);
  },
  objectiveMs: (model) => (model === 'ranker' ? 200 : undefined),
  autoscaling: () => ({
    nowMs: () => nowMs,
    completeness: async () => ({
      ...nothingWrong,
      completeMs: queueMs === undefined ? nowMs - 600_000 : nowMs - 10_000,
      knownMs: undefined,
      hasAllTraffic: true,
    }),
    load: async () => ({ requests: queueMs === 0 ? 0 : 600, quantileMs: queueMs || undefined }),
    isKnown: async () => true,
    hasEvents: async () => true,
    silence: async () => undefined,
  }),
  mutes: async () => mutes,
  async putMute(mute) {
    mutes.push(mute);
    return mute.models.includes('rankr') ? ['No event of model rankr.'] : [];
  },
  async endMute(id, by) {
    const found = mutes.find((mute) => mute.id === id);
    return found && { ...found, untilMs: nowMs, endedMs: nowMs, endedBy: by };
  },
};

const access = new Access({
  ...{ http: http.parse({ operator_token: token }), log: sources.log, elapsedMs: () => 0 },
});
const server = createServer(
  getRequestListener(apiApp(sources, { hasOperators: true, access }).fetch),
);
let port = 0;

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as AddressInfo).port;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  verdict = 'pass';
  queueMs = 75;
  asked.length = 0;
  mutes.length = 0;
});

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Sends a request with exactly these headers, as Go's client has them. */
function send({ method, path, headers = {}, body = '' }: Sent): Promise<{
  readonly status: number;
  readonly type: string;
  readonly text: string;
  readonly retryAfter: string | undefined;
}> {
  return new Promise((resolve, reject) => {
    const all = { 'User-Agent': 'Go-http-client/1.1', 'Accept-Encoding': 'gzip', ...headers };
    const sent = request({ host: '127.0.0.1', port, method, path, headers: all }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => {
        text += part;
      });
      response.on('end', () => {
        const { statusCode: status = 0, headers: got } = response;
        resolve({ status, type: got['content-type'] ?? '', text, retryAfter: got['retry-after'] });
      });
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

const release = 'model=ranker&version=v2&baseline=v1';
const outage = () => {
  const refused = new Error('connect ECONNREFUSED 127.0.0.1:8123');
  verdict = Object.assign(refused, { code: 'ECONNREFUSED' });
};

describe('Argo Rollouts', () => {
  // A GET with the configured headers; any status but 2xx is an error of the measurement, not a failure.
  const measure = () => send({ method: 'GET', path: `/v1/verdict?${release}` });

  it.each(['pass', 'fail', 'inconclusive'] as const)('reads %s from the body', async (given) => {
    verdict = given;
    const { status, type, text } = await measure();
    expect([status, type]).toEqual([200, 'application/json']);
    expect(JSON.parse(text)).toMatchObject({
      verdict: given,
      reason,
      missing_requests: given === 'inconclusive' ? 2_400 : 0,
    });
    expect(asked).toEqual([{ model: 'ranker', version: 'v2', baseline: 'v1', showsGoodput: true }]);
  });

  it('gets 503 in an outage, which it counts as an error', async () => {
    outage();
    const { status, type, text, retryAfter } = await measure();
    expect([status, type, retryAfter]).toEqual([503, 'application/problem+json', '5']);
    expect(JSON.parse(text).detail).toBe('ClickHouse does not respond.');
  });

  it('gets 400 for a parameter that is none, instead of another answer', async () => {
    const path = `/v1/verdict?${release}&region=mars`;
    const { status, text } = await send({ method: 'GET', path });
    expect([status, JSON.parse(text).detail]).toEqual([
      400,
      'region is no parameter of this request. Known: model, version, baseline, since, stages.',
    ]);
    expect(asked).toEqual([]);
  });

  it.each([
    ['a name is missing', 'model=ranker&version=v2', 'baseline must be given.'],
    ['a name is empty', 'model=&version=v2&baseline=v1', 'model must not be empty; it is "".'],
    [
      'a name is too long',
      `model=${'m'.repeat(5_000)}&version=v2&baseline=v1`,
      `model must have at most 4096 characters; it is "${'m'.repeat(79)}….`,
    ],
    [
      'a name is given twice',
      `${release}&version=v3`,
      'version must be given once; it is given 2 times.',
    ],
    [
      'it is compared with itself',
      'model=ranker&version=v1&baseline=v1',
      'version and baseline must be two versions: both are "v1".',
    ],
  ])('gets 400 where %s', async (_, query, detail) => {
    const { status, text } = await send({ method: 'GET', path: `/v1/verdict?${query}` });
    expect([status, JSON.parse(text).detail]).toEqual([400, detail]);
    expect(asked).toEqual([]);
  });

  it('gets 400 for what only the comparison finds wrong', async () => {
    verdict = new OperatorError('TAILMARK_USAGE', 'Cannot compare as a range must be at most 24h', {
      hint: 'Begin the range at the release.',
    });
    const { status, text } = await measure();
    expect([status, JSON.parse(text).detail]).toEqual([
      400,
      'Cannot compare as a range must be at most 24h. Begin the range at the release.',
    ]);
  });
});

describe('Flagger', () => {
  // A POST of name, namespace, phase and metadata; above 202 is a failure, with the body as its reason.
  const ask = (gate: string, metadata: Record<string, string> | undefined, query = '') =>
    send({
      method: 'POST',
      path: `/v1/gate/${gate}${query}`,
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ name: 'ranker', namespace: 'ml', phase: 'Progressing', metadata }),
    });
  const metadata = { model: 'ranker', version: 'v2', baseline: 'v1' };

  it.each([
    ['promote', 'pass', 200],
    ['promote', 'fail', 409],
    ['promote', 'inconclusive', 409],
    ['rollback', 'pass', 409],
    ['rollback', 'fail', 200],
    ['rollback', 'inconclusive', 409],
  ] as const)('asks %s at %s: %i', async (gate, given, expected) => {
    verdict = given;
    const { status, text } = await ask(gate, metadata);
    expect([status, text]).toEqual([expected, `${given}: ${reason}\n`]);
    expect(asked).toEqual([metadata]);
  });

  it.each(['promote', 'rollback'])(
    'neither promotes nor rolls back in an outage (%s)',
    async (gate) => {
      outage();
      expect((await ask(gate, metadata)).status).toBe(503);
    },
  );

  it('may name the release in the address, without metadata', async () => {
    expect((await ask('promote', undefined, `?${release}&since=1h`)).status).toBe(200);
    expect(asked).toEqual([{ ...metadata, since: '1h' }]);
  });

  it('gets 400 where the address and metadata name two models', async () => {
    const { status, text } = await ask('promote', metadata, '?model=other');
    const detail = 'model must be given once; it is "other" as a parameter, "ranker" in metadata.';
    expect([status, JSON.parse(text).detail]).toEqual([400, detail]);
  });

  it.each(['promote', 'rollback'])('gets 400 for a version against itself (%s)', async (gate) => {
    const { status, text } = await ask(gate, { ...metadata, baseline: 'v2' });
    expect([status, JSON.parse(text).detail]).toEqual([
      400,
      'version and baseline must be two versions: both are "v2".',
    ]);
    const missing = await ask(gate, { model: 'ranker' });
    expect(JSON.parse(missing.text).detail).toBe(
      'version must be given, as a parameter or in metadata. baseline must be given, as a parameter or in metadata.',
    );
    expect(asked).toEqual([]);
  });

  it('gets 400 for a body that is none of its own, and for one that is too large', async () => {
    const path = '/v1/gate/promote';
    expect((await send({ method: 'POST', path, body: 'hello' })).status).toBe(400);
    const large = JSON.stringify({ metadata: { model: 'x'.repeat(70_000) } });
    expect((await send({ method: 'POST', path, body: large })).status).toBe(413);
    expect(asked).toEqual([]);
  });
});

describe('KEDA', () => {
  // A GET; anything but 200 is an error, and 0 means "scale to none".
  const scale = (query: string) => send({ method: 'GET', path: `/v1/autoscale?${query}` });

  it('reads a number from `value`', async () => {
    const { status, text } = await scale('model=ranker&stage=queue&q=0.95&objective_ms=50');
    expect([status, JSON.parse(text).value]).toEqual([200, 1.5]);
  });

  it('takes the objective of detect.slos for whole requests', async () => {
    expect(JSON.parse((await scale('model=ranker&q=0.99')).text).value).toBe(0.375);
  });

  it('gets 0 where nothing was asked, and 503 where that is not known', async () => {
    queueMs = 0;
    expect(JSON.parse((await scale('model=ranker&q=0.99')).text).value).toBe(0);
    queueMs = undefined;
    const stale = await scale('model=ranker&q=0.99');
    expect([stale.status, stale.text.includes('"value"')]).toEqual([503, false]);
  });

  const q = 'q must be one of 0.5, 0.9, 0.95, 0.99, 0.999; it is';
  const objective = 'objective_ms must be a number from 0.001 to 86400000; it is';
  const seconds = 'window_seconds must be a whole number from 10 to 3600; it is';
  it.each([
    ['q=0.95', 'model must be given.'],
    ['model=ranker', 'q must be given: one of 0.5, 0.9, 0.95, 0.99, 0.999.'],
    ['model=ranker&q=0.42', `${q} "0.42".`],
    ['model=ranker&q=x&window_seconds=1', `${q} "x". ${seconds} "1".`],
    [
      'model=other&q=0.95',
      'objective_ms must be given: detect.slos has no objective for stage total of model other.',
    ],
    ['model=ranker&q=0.95&objective_ms=0', `${objective} "0".`],
    ['model=ranker&q=0.95&objective_ms=NaN', `${objective} "NaN".`],
    ['model=ranker&q=0.95&window_seconds=1.5', `${seconds} "1.5".`],
    [
      'model=ranker&quantile=0.95',
      'q must be given: one of 0.5, 0.9, 0.95, 0.99, 0.999. quantile is no parameter of this request. Known: model, stage, q, objective_ms, window_seconds.',
    ],
  ])('gets 400 for %s', async (query, detail) => {
    const { status, text } = await scale(query);
    expect([status, JSON.parse(text).detail]).toEqual([400, detail]);
  });
});

describe('mutes', () => {
  const body = JSON.stringify({
    models: ['ranker'],
    from_ms: nowMs,
    until_ms: nowMs + 3_600_000,
    why: 'load test',
    who: 'ann',
  });
  const post = (headers: Record<string, string>, text = body) =>
    send({ method: 'POST', path: '/v1/mutes', headers, body: text });
  // Schemes have no case: some proxies write them small.
  const login = { Authorization: `bearer ${token}` };

  it("need the operator's token to be changed", async () => {
    expect((await post({})).status).toBe(401);
    expect((await post({ Authorization: 'Bearer other-token-of-nobody' })).status).toBe(401);
    expect((await send({ method: 'DELETE', path: '/v1/mutes/x' })).status).toBe(401);
    expect(mutes).toEqual([]);
    const init = { method: 'POST', headers: login, body };
    const refused = await apiApp(sources).request('/v1/mutes', init, onLoopback);
    expect(refused.status).toBe(403);
  });

  it('are added, listed and ended', async () => {
    const added = await post(login);
    expect(added.status).toBe(201);
    const { id } = JSON.parse(added.text).mute;
    const listed = await send({ method: 'GET', path: '/v1/mutes' });
    // The words of the request, in every answer; who it was is said by the login.
    const history = {
      ...{ who: 'operator', on_behalf_of: 'ann', added_at_ms: nowMs },
      ...{ planned_until_ms: nowMs + 3_600_000, ended_at_ms: null, ended_by: null },
    };
    const shown = { id, ...JSON.parse(body), kinds: [], dimensions: {}, ...history };
    expect([JSON.parse(added.text), JSON.parse(listed.text)]).toEqual([
      { mute: shown, notes: [] },
      { mutes: [shown] },
    ]);
    const path = `/v1/mutes/${id}`;
    const ended = await send({ method: 'DELETE', path, headers: login });
    const end = { until_ms: nowMs, ended_at_ms: nowMs, ended_by: 'operator' };
    expect([ended.status, JSON.parse(ended.text)]).toEqual([200, { mute: { ...shown, ...end } }]);
    const gone = await send({ method: 'DELETE', path: '/v1/mutes/none', headers: login });
    expect([gone.status, JSON.parse(gone.text).detail]).toEqual([
      404,
      'No mute that holds now or later has the id none.',
    ]);
  });

  it('of what was never seen are added, and say so', async () => {
    const { status, text } = await post(
      login,
      JSON.stringify({ ...JSON.parse(body), models: ['rankr'] }),
    );
    expect([status, JSON.parse(text).notes]).toEqual([201, ['No event of model rankr.']]);
  });

  it('are all listed or none: a parameter would be ignored', async () => {
    const { status, text } = await send({ method: 'GET', path: '/v1/mutes?model=ranker' });
    expect([status, JSON.parse(text).detail]).toEqual([
      400,
      'model is no parameter of this request, which takes none.',
    ]);
  });

  const days31 = nowMs + 31 * 86_400_000;
  const kinds = anomalyEventSchema.shape.kind.options.join(', ');
  it.each<[string, unknown, string]>([
    ['no JSON', undefined, 'The body must be JSON.'],
    ['a list', [], 'The body must be a map; it is an empty list.'],
    ['no reason', { why: ' ' }, 'why must not be empty; it is " ".'],
    [
      'too long',
      { until_ms: days31 },
      `until_ms must be at most 30 days after from_ms; it is ${days31}.`,
    ],
    [
      'of nothing',
      { models: [] },
      'models must be given, or kinds or dimensions; "*" is every model; it is an empty list.',
    ],
    ['backwards', { until_ms: nowMs }, `until_ms must lie after from_ms; it is ${nowMs}.`],
    [
      'over already',
      { from_ms: 1, until_ms: 2 },
      `until_ms must lie ahead of now, in epoch milliseconds; it is 2, and now is ${nowMs}.`,
    ],
    [
      'unknown fields',
      { url: 'http://x', fromMs: 1 },
      'url is no field of this request. Known: models, kinds, dimensions, attributes, from_ms, until_ms, why, who. fromMs is no field of this request. Did you mean from_ms?',
    ],
    [
      'a wrong kind',
      { kinds: ['drift', 'tail_shfit'] },
      `kinds[1] must be one of ${kinds}; it is "tail_shfit". Did you mean tail_shift?`,
    ],
    [
      'an unknown dimension',
      { dimensions: { rgion: 'eu' } },
      'dimensions.rgion is no field of this request. Did you mean region?',
    ],
    [
      'a text for a list',
      { models: 'ranker' },
      'models must be a list, each entry text; it is "ranker".',
    ],
    [
      'a time as text',
      { until_ms: '2h' },
      'until_ms must be a whole number from 0 to 10413705600000; it is "2h".',
    ],
    [
      'a wild time',
      { from_ms: 9e15 - 1, until_ms: 9e15 },
      'from_ms must be a whole number from 0 to 10413705600000; it is 8999999999999999. until_ms must be a whole number from 0 to 10413705600000; it is 9000000000000000.',
    ],
    [
      'no time',
      { from_ms: undefined },
      'from_ms must be given: a whole number from 0 to 10413705600000.',
    ],
  ])('are refused with %s', async (_, changed, detail) => {
    const whole = Array.isArray(changed) ? changed : { ...JSON.parse(body), ...(changed ?? {}) };
    const sent = changed === undefined ? '{' : JSON.stringify(whole);
    const { status, text: answer } = await post(login, sent);
    expect([status, JSON.parse(answer).detail]).toEqual([400, detail]);
    expect(mutes).toEqual([]);
  });
});
