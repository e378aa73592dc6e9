import { expect, it } from 'vitest';
import { SeededRandom } from '../base/seeded-random.ts';
import { testDecoder } from './outcomes.ts';

it('weights are those of each event, whichever of the ways reads it', () => {
  const random = new SeededRandom(5);
  const weights = Array.from({ length: 4_000 }, (_, i) => {
    // Long runs of one shape, and shapes in turn.
    if (i < 1_500) return 1;
    return i < 2_500 ? 10 : [1, 10, 7][random.between(0, 2)];
  });
  const { decoder, decode } = testDecoder();
  const lines = weights.map((weight) =>
    JSON.stringify({
      ts: 1_790_000_000_000,
      model: 'm',
      ...(weight === 1 ? {} : { weight }),
      stages_ms: { forward: 2.5 },
    }),
  );
  const found = decode(lines.join('\n')).outcomes.map((outcome) =>
    'event' in outcome ? outcome.event.weight : outcome,
  );
  expect(found).toEqual(weights);
  expect(decoder.kernelCount).toBeGreaterThan(1_000);
});
