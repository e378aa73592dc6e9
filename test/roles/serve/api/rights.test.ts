import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { createLog } from '../../../../src/base/telemetry/log.ts';
import { http } from '../../../../src/config/http.ts';
import { Access } from '../../../../src/roles/serve/access/access.ts';
import type { ApiSources } from '../../../../src/roles/serve/api/sources.ts';
import type { Mute } from '../../../../src/sink/anomalies/mute-store.ts';
import { apiApp, onLoopback } from '../api-app.ts';

const folder = mkdtempSync(join(tmpdir(), 'tailmark-rights-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const digest = (text: string) => createHash('sha256').update(text).digest('hex');
const tokens = join(folder, 'tokens');
writeFileSync(tokens, `reader ${digest('reader-token')}\nann ${digest('ann-token')} operate\n`);

const nowMs = Date.UTC(2026, 10, 1, 12);
const log = createLog({ level: 'silent' });
const mutes: Mute[] = [];
const asked: unknown[] = [];
beforeEach(() => {
  mutes.length = 0;
  asked.length = 0;
});
const sources: ApiSources = {
  ...{ log, nowMs: () => nowMs, objectiveMs: () => undefined },
  async verdict(release) {
    asked.push(release);
    throw new Error('no answer');
  },
  autoscaling: () => {
    throw new Error('no answer');
  },
  mutes: async () => mutes,
  async putMute(mute) {
    mutes.push(mute);
    return [];
  },
  endMute: async () => undefined,
};
const accessOf = (auth: object) =>
  new Access({ http: http.parse({ auth }), log, elapsedMs: () => 0 });
/** A request of this machine with these headers. */
const withHeaders = (headers: Record<string, string>) => {
  const { incoming } = onLoopback;
  return { incoming: { ...incoming, headers: { ...incoming.headers, ...headers } } };
};
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

describe('a mute', () => {
  const access = accessOf({ tokens_file: tokens, open: ['mutes'] });
  const app = apiApp(sources, { hasOperators: true, access });
  const mute = { models: ['ranker'], from_ms: nowMs, until_ms: nowMs + 1, why: 'load test' };
  const post = async (headers: Record<string, string>, body = JSON.stringify(mute)) => {
    const init = { method: 'POST', body };
    const answer = await app.request('/v1/mutes', init, withHeaders(headers));
    return [answer.status, ((await answer.json()) as { detail?: string }).detail];
  };
  const needed =
    'the operator token, or one with operate in http.auth.tokens_file (Authorization: Bearer TOKEN)';

  it('is added by a token that may operate', async () => {
    expect(await post(bearer('ann-token'))).toEqual([201, undefined]);
    expect(mutes).toMatchObject([{ who: 'ann', onBehalfOf: undefined }]);
  });

  it('is refused to a token that reads only: who it is, is known', async () => {
    const detail = `reader reads only: this needs ${needed}.`;
    expect(await post(bearer('reader-token'))).toEqual([403, detail]);
    expect(mutes).toEqual([]);
  });

  it('is refused to the session of a token that may, which says what to send', async () => {
    const request = { socket: { remoteAddress: '127.0.0.1' }, headers: {} } as IncomingMessage;
    const cookie = access.openSession('ann-token', request).split(';')[0] ?? '';
    const detail = `A login of the dashboard reads only: send ${needed} with this request.`;
    expect(await post({ cookie })).toEqual([403, detail]);
    expect(mutes).toEqual([]);
  });

  it.each([{}, bearer('no-token')])('is refused to who has no token', async (headers) => {
    expect(await post(headers)).toEqual([401, `This needs ${needed}.`]);
    expect(mutes).toEqual([]);
  });

  it('may begin in a year, and no later', async () => {
    const days366 = nowMs + 366 * 86_400_000;
    const at = (fromMs: number) =>
      post(bearer('ann-token'), JSON.stringify({ ...mute, from_ms: fromMs, until_ms: fromMs + 1 }));
    expect(await at(days366)).toEqual([201, undefined]);
    expect(await at(days366 + 1)).toEqual([
      400,
      `from_ms must be at most 366 days ahead, in epoch milliseconds; it is ${days366 + 1}, and now is ${nowMs}.`,
    ]);
    expect(mutes).toHaveLength(1);
  });

  it.each([
    ['{"dimensions":{"__proto__":"a","region":"eu"},', 'dimensions.__proto__'],
    ['{"__proto__":{"kinds":["drift"]},', '__proto__'],
  ])('is refused with %s, which a schema would pass over', async (start, field) => {
    const [status, detail] = await post(
      bearer('ann-token'),
      start + JSON.stringify(mute).slice('{'.length),
    );
    expect([status, detail]).toEqual([
      400,
      expect.stringContaining(`${field} is no field of this request. Known: `),
    ]);
    expect(mutes).toEqual([]);
  });
});

describe('a verdict that is open to everybody', () => {
  const app = apiApp(sources, { access: accessOf({ tokens_file: tokens, open: ['verdict'] }) });
  const named = { model: 'ranker', version: 'v2', baseline: 'v1' };
  const ask = (headers: Record<string, string>) =>
    app.request(`/v1/verdict?${new URLSearchParams(named)}`, {}, withHeaders(headers));

  it('names other models to logins alone', async () => {
    await ask({});
    await ask(bearer('reader-token'));
    const shown = { ...named, showsGoodput: true };
    expect(asked).toEqual([{ ...shown, hidesModels: true }, shown]);
  });

  it.each([
    [{ remoteAddress: '10.0.0.9', localAddress: '10.0.0.5' }, '10.0.0.5', true],
    [onLoopback.incoming.socket, 'rebound.example', true],
    [onLoopback.incoming.socket, 'localhost', false],
  ])('without any login, to this machine alone: %o as %s', async (socket, host, hidesModels) => {
    const open = apiApp(sources, { access: accessOf({ open: ['verdict'] }) });
    const env = { incoming: { socket, headers: { host } } };
    await open.request(`/v1/verdict?${new URLSearchParams(named)}`, {}, env);
    const shown = { ...named, showsGoodput: true };
    expect(asked).toEqual([hidesModels ? { ...shown, hidesModels } : shown]);
  });
});
