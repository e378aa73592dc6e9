import { describe, expect, it } from 'vitest';
import { fuzzRound, roundMessages } from './fuzz-round.ts';

describe('fuzzed bytes', () => {
  const rounds = 10;

  it(`of ${rounds * roundMessages} messages crash nothing: each is decoded or rejected`, async () => {
    for (let round = 0; round < rounds; round++) {
      expect(await fuzzRound(1, round), `round ${round}`).toBeGreaterThanOrEqual(0);
    }
  });

  it.each([
    ['otlp', 3],
    ['spans', 2],
    ['records', 2],
    ['secrets', 1],
  ])(`of %s crash nothing either, in %s rounds of ${roundMessages}`, async (subject, count) => {
    for (let round = 0; round < count; round++) {
      expect(await fuzzRound(1, round, subject), `round ${round}`).toBeGreaterThanOrEqual(0);
    }
  });
});
