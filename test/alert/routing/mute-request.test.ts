import { expect, test } from 'vitest';
import { muteJson, muteOf, muteRequestSchema } from '../../../src/alert/routing/mute-request.ts';
import { covers } from '../../../src/alert/routing/muted.ts';
import { knownSecrets } from '../../../src/base/telemetry/known-secrets.ts';
import { anomalyFixture } from '../../contract/anomaly-fixture.ts';

test('a secret in a reason or a name is masked before it is stored', () => {
  const secret = 'a-token-of-the-operator';
  knownSecrets.remember(secret);
  const request = muteRequestSchema.parse({
    ...{ models: ['ranker'], from_ms: 1_000, until_ms: 2_000 },
    ...{ why: `deploy with ${secret}`, who: `bob ${secret}` },
  });
  expect(muteOf(request, { who: 'ann', nowMs: 1_000 })).toMatchObject({
    ...{ why: 'deploy with ***', who: 'ann', onBehalfOf: 'bob ***' },
  });
});

test('a reason is one line that hides nothing, and is not empty by that', () => {
  const asked = (why: string) =>
    muteRequestSchema.safeParse({ models: ['ranker'], from_ms: 1_000, until_ms: 2_000, why });
  expect(asked(' deploy\nof \u202egnp.exe ').data?.why).toBe('deploy of gnp.exe');
  expect(asked('\u202e\u200b').error?.issues).toMatchObject([{ path: ['why'], code: 'too_small' }]);
  expect(asked('x'.repeat(501)).error?.issues).toMatchObject([{ path: ['why'], code: 'too_big' }]);
});

test('own dimensions are kept beside the others, and shown as they were asked for', () => {
  const request = muteRequestSchema.parse({
    ...{ from_ms: 1_000, until_ms: 2_000, why: 'a test' },
    ...{ dimensions: { region: 'eu' }, attributes: { adapter: 'lora-*' } },
  });
  const mute = muteOf(request, { who: 'ann', nowMs: 1_000 });
  expect(mute.dimensions).toEqual({ region: 'eu', 'attributes.adapter': 'lora-*' });
  expect(muteJson(mute)).toMatchObject({
    ...{ dimensions: { region: 'eu' }, attributes: { adapter: 'lora-*' } },
  });
  const isCovered = (attributes?: string) =>
    covers(
      { ...mute, dimensions: { 'attributes.adapter': 'lora-*' } },
      anomalyFixture({ attributes }),
    );
  expect([isCovered('adapter=lora-7'), isCovered('adapter=base'), isCovered()]).toEqual([
    ...[true, false, false],
  ]);
});
