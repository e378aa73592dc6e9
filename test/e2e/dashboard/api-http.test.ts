import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dayMs } from '../../../src/base/time.ts';
import { AnomalyStore } from '../../../src/sink/anomalies/anomaly-store.ts';
import { pipelineAnswer } from '../../../src/views/answers/pipeline.ts';
import { FaultyProxy } from '../../chaos/faulty-proxy.ts';
import { useStack } from '../../containers/stack.ts';
import { anomalyFixture } from '../../contract/anomaly-fixture.ts';
import { poll } from '../kit/poll.ts';
import { Rig } from '../kit/rig.ts';
import { askApi } from './asked-api.ts';

const stack = useStack();
const nowMs = Date.now();

let rig: Rig;
let proxy: FaultyProxy;
let url: string | undefined;

/** One request a second that ends at a time. */
const second = (endMs: number) => ({
  value: JSON.stringify({ ts: endMs - 100, model: 'ranker', version: 'v1', total_ms: 100 }),
});

beforeAll(async () => {
  if (stack.clickhouseUrl === '') return;
  proxy = await FaultyProxy.start(Number(new URL(stack.clickhouseUrl).port));
  // Its windows are final an hour after they end.
  const settings = { WINDOWS_ALLOWED_LATENESS: '1h', WINDOWS_MAX_WAIT: '1s' };
  rig = await Rig.open({ stack, name: 'dashboard-http', settings });
  await rig.start(['ingest']);
  const away = { ...rig.config.clickhouse, url: `http://127.0.0.1:${proxy.port}` };
  url = (await rig.start(['serve'], { ...rig.config, clickhouse: away })).url;
  await rig.publish([nowMs - 2 * dayMs, nowMs - dayMs, nowMs - 10_000].map(second));
  await rig.untilConsumed(3);
});
afterAll(async () => {
  await rig?.close();
  await proxy?.close();
});

const past = { model: 'ranker', from: nowMs - 2 * dayMs - 60_000, to: nowMs - dayMs + 60_000 };
const recent = { model: 'ranker', from: '-5m' };

describe('an answer', () => {
  it('whose windows are final may be kept for good', async () => {
    const { text, ...rest } = await poll('a final answer', async () => {
      const response = await askApi(url, '/v1/tails', past);
      return JSON.parse(response.text).windows.final > 0 ? response : undefined;
    });
    expect(rest).toMatchObject({
      status: 200,
      type: 'application/json',
      cacheControl: 'private, max-age=86400, immutable',
    });
    const { windows } = JSON.parse(text);
    expect([windows.provisional, windows.open]).toEqual([0, 0]);
  });

  it('of recent windows has a tag, which is the same until more is stored', async () => {
    const range = { model: 'ranker', from: nowMs - 300_000, to: nowMs + 3_600_000 };
    const first = await askApi(url, '/v1/tails', range);
    expect(first).toMatchObject({ status: 200, cacheControl: 'private, no-cache' });
    const again = await askApi(url, '/v1/tails', range, { 'if-none-match': first.etag ?? '' });
    expect(again).toMatchObject({ status: 304, text: '', etag: first.etag });
    const others = { 'if-none-match': `"a", ${first.etag}` };
    expect((await askApi(url, '/v1/tails', range, others)).status).toBe(304);
    await rig.publish([second(nowMs - 5_000)]);
    await rig.untilConsumed(4);
    const more = await poll('an answer with the new request', async () => {
      const response = await askApi(url, '/v1/tails', range, { 'if-none-match': first.etag ?? '' });
      return response.status === 200 ? response : undefined;
    });
    expect(more.etag).not.toBe(first.etag);
  });

  it('is compressed for who accepts that, and says what it depends on', async () => {
    const path = '/v1/tails?model=ranker&by=time&from=-6h&step_seconds=60';
    const sent = async (encoding: string) => {
      const headers = { 'accept-encoding': encoding };
      const response = await fetch(`${url}${path}`, { headers });
      const { headers: got } = response;
      return [got.get('content-encoding'), got.get('vary'), await response.text()];
    };
    const [encoding, vary, body] = await sent('gzip, br');
    expect([encoding, vary]).toEqual(['gzip', 'accept-encoding']);
    expect(await sent('identity')).toEqual([null, 'accept-encoding', body]);
    expect(await sent('gzip;q=0')).toEqual([null, 'accept-encoding', body]);
    expect(JSON.parse(body ?? '').rows.length).toBeGreaterThan(100);
  });

  it('is not given to what is not asked for with GET', async () => {
    for (const method of ['POST', 'PUT', 'DELETE']) {
      const { status } = await fetch(`${url}/v1/tails?model=ranker`, { method });
      expect([method, status]).toEqual([method, 405]);
    }
    const head = await fetch(`${url}/v1/tails?model=ranker`, { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
  });
});

describe('with ClickHouse away', () => {
  it('an answer is 503 with a sentence, leaks nothing, and is there again when it is back', async () => {
    proxy.inject({ kind: 'refuse' });
    for (const [path, parameters] of [
      ['/v1/tails', recent],
      ['/v1/models', {}],
      ['/v1/releases', {}],
    ] as const) {
      const response = await askApi(url, path, parameters);
      expect([path, response.status, response.type, response.retryAfter]).toEqual([
        ...[path, 503, 'application/problem+json', '5'],
      ]);
      expect(JSON.parse(response.text)).toEqual({
        ...{ type: 'about:blank', title: 'Service Unavailable', status: 503 },
        detail: 'ClickHouse does not respond.',
      });
      expect(response.text).not.toMatch(/127\.0\.0\.1|SELECT|default|E[A-Z]{4}/);
    }
    // However long it is away: what is kept for a moment is gone by then.
    await poll('a process that asks for nothing but the question', async () => {
      const [wrong, right] = [{ model: 'ranker', q: 2 }, past];
      expect((await askApi(url, '/v1/tails', wrong)).status).toBe(400);
      return (await askApi(url, '/v1/tails', right)).status === 503 || undefined;
    });
    proxy.heal();
    await poll('an answer', async () => {
      const { status } = await askApi(url, '/v1/tails', recent);
      return status === 200 || undefined;
    });
  });
});

describe('/openapi.json', () => {
  it('describes every endpoint, its parameters and its answer', async () => {
    const { status, text } = await askApi(url, '/openapi.json');
    const document = JSON.parse(text);
    expect([status, document.openapi]).toEqual([200, '3.1.0']);
    expect(Object.keys(document.paths)).toEqual(
      expect.arrayContaining(['/v1/models', '/v1/tails', '/v1/density', '/v1/releases']),
    );
    const { parameters, responses } = document.paths['/v1/tails'].get;
    const named = (name: string) => parameters.find((one: { name: string }) => one.name === name);
    expect(named('model')).toMatchObject({ in: 'query', required: true });
    expect(named('by').schema.anyOf[0].enum).toContain('request_type');
    expect(named('start').required).toBe(false);
    expect(Object.keys(responses).map(Number)).toEqual([
      ...[200, 304, 400, 401, 403, 404, 405, 429, 431, 503],
    ]);
    const { properties } = responses[200].content['application/json'].schema;
    expect(properties.rows.items.properties.mean_ms.type).toEqual(['number', 'null']);
  });
});

describe('answers that change at any time', () => {
  it('are the anomalies, page by page, and one by its id', async () => {
    const ids = ['first', 'second', 'third'];
    for (const [n, id] of ids.entries()) {
      const started_at = new Date(nowMs - (10 - n) * 60_000).toISOString();
      const event = anomalyFixture({ id, started_at, detected_at: started_at, resolved_at: null });
      await new AnomalyStore(rig.client).add(event);
    }
    const first = JSON.parse((await askApi(url, '/v1/anomalies', { limit: 2 })).text);
    expect(first.rows.map(({ id }: { id: string }) => id)).toEqual(['third', 'second']);
    const rest = { limit: 2, cursor: first.next };
    const second = JSON.parse((await askApi(url, '/v1/anomalies', rest)).text);
    expect([second.rows.map(({ id }: { id: string }) => id), second.next]).toEqual([
      ['first'],
      null,
    ]);
    const one = await askApi(url, '/v1/anomalies/second');
    expect([one.status, JSON.parse(one.text).event.id]).toEqual([200, 'second']);
    const none = await askApi(url, '/v1/anomalies/fourth');
    expect([none.status, JSON.parse(none.text).detail]).toEqual([
      ...[404, 'No anomaly has the id "fourth".'],
    ]);
    const unread = await askApi(url, '/v1/anomalies', { cursor: 'x' });
    expect([unread.status, unread.type]).toEqual([400, 'application/problem+json']);
  });

  it('are the state of the pipeline', async () => {
    const { status, text, cacheControl } = await askApi(url, '/v1/pipeline');
    expect([status, status === 200 ? '' : text]).toEqual([200, '']);
    const answer = pipelineAnswer.parse(JSON.parse(text));
    expect([status, cacheControl]).toEqual([200, 'private, no-cache']);
    expect(answer).toMatchObject({
      ledger: { ok: true, problems: [] },
      partitions: [{ topic: rig.topic, partition: 0, stored_offset: 4, lag_messages: 0 }],
      problems: [],
    });
    expect(answer.stored_last_hour.consumed).toBe(4);
  });
});
