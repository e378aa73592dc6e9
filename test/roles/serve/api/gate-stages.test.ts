import { beforeEach, expect, it } from 'vitest';
import { createLog } from '../../../../src/base/telemetry/log.ts';
import type { ApiSources } from '../../../../src/roles/serve/api/sources.ts';
import { apiApp, onLoopback } from '../api-app.ts';

/** Answers nothing: a request that is understood gets 503. */
const away = () => {
  throw new Error('away');
};
const asked: unknown[] = [];
const sources: ApiSources = {
  ...{ log: createLog({ level: 'silent' }), nowMs: () => 0 },
  verdict: (release) => {
    asked.push(release);
    return away();
  },
  ...{ autoscaling: away, objectiveMs: away, mutes: away, putMute: away, endMute: away },
};
const api = apiApp(sources);
const release = { model: 'ranker', version: 'v2', baseline: 'v1' };
const query = (more: object) => new URLSearchParams({ ...release, ...more });

beforeEach(() => {
  asked.length = 0;
});

it.each([
  ['total,first_token', ['total', 'first_token']],
  [' first_token , total,first_token', ['first_token', 'total']],
  // A template that names none.
  ['', undefined],
])('a verdict may name the stages that decide: "%s"', async (given, stages) => {
  const path = `/v1/verdict?${query({ stages: given })}`;
  const { status } = await api.request(path, {}, onLoopback);
  expect([status, asked]).toEqual([503, [{ ...release, stages, showsGoodput: true }]]);
});

it.each(['total,,first_token', ',', Array.from({ length: 21 }, (_, i) => `s${i}`).join()])(
  'a list of stages that is none gets 400: %s',
  async (stages) => {
    const answer = await api.request(`/v1/verdict?${query({ stages })}`, {}, onLoopback);
    const { detail } = (await answer.json()) as { readonly detail: string };
    expect([answer.status, asked]).toEqual([400, []]);
    expect(detail).toMatch(
      /^stages must be at most 20 names of stages with commas between, such as total,first_token; it is "/,
    );
  },
);

it('a gate takes them from the address or from metadata, and not from both', async () => {
  const ask = async (metadata: object, more: object = {}) => {
    const init = { method: 'POST', body: JSON.stringify({ metadata }) };
    return (await api.request(`/v1/gate/promote?${query(more)}`, init, onLoopback)).status;
  };
  expect(await ask({ stages: 'total,queue' })).toBe(503);
  expect(await ask({}, { stages: 'first_token' })).toBe(503);
  expect(await ask({ stages: 'total' }, { stages: 'first_token' })).toBe(400);
  expect(asked).toEqual([
    { ...release, stages: ['total', 'queue'] },
    { ...release, stages: ['first_token'] },
  ]);
});
