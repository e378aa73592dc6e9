import { describe, expect, it } from 'vitest';
import { fuzzRound, roundMessages } from './fuzz-round.ts';

describe('fuzzed bytes', () => {
  const rounds = 10;

  it(`of ${rounds * roundMessages} messages crash nothing: each is decoded or rejected`, async () => {
    for (let round = 0; round < rounds; round++) {
      expect(await fuzzRound(1, round), `round ${round}`).toBeGreaterThanOrEqual(0);
    }
  });

  const otlpRounds = 3;

  it(`of ${otlpRounds * roundMessages} messages of OTLP crash nothing either`, async () => {
    for (let round = 0; round < otlpRounds; round++) {
      expect(await fuzzRound(1, round, 'otlp'), `round ${round}`).toBeGreaterThanOrEqual(0);
    }
  });
});
