import { expect, test } from 'vitest';
import { muteOf, muteRequestSchema } from '../../../src/alert/routing/mute-request.ts';
import { knownSecrets } from '../../../src/base/telemetry/known-secrets.ts';

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
