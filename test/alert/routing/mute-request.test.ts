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
