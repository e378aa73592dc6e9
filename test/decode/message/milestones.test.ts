import { describe, expect, it } from 'vitest';
import { testDecoder } from '../outcomes.ts';

describe('milestones of an event', () => {
  it('counts a milestone to no total, in whichever of the two it is', () => {
    const { decode, decoder } = testDecoder();
    const of = (rest: string) => decode(`{"ts":1789000000123,"model":"m",${rest}}`).outcomes[0];
    // Each text twice: the second time the names are known.
    for (let round = 0; round < 2; round++) {
      expect(of('"stages_ms":{"queue":3,"first_token":5,"decode":9}')).toMatchObject({
        event: {
          totalMs: 12,
          stages: [
            ['queue', 3],
            ['first_token', 5],
            ['decode', 9],
          ],
        },
      });
      expect(of('"milestones_ms":{"headers":4,"ttft":6},"stages_ms":{"queue":3}')).toMatchObject({
        event: {
          totalMs: 3,
          stages: [
            ['time_to_headers', 4],
            ['ttft', 6],
            ['queue', 3],
          ],
        },
      });
      expect(
        of('"stages_ms":{"queue":3,"decode":1},"partial":true,"milestones_ms":{"headers":8}'),
      ).toMatchObject({
        event: { totalMs: Number.NaN, leastMs: 8 },
      });
      // Without a part no total is known, of whatever event.
      expect(of('"milestones_ms":{"first_token":4}')).toMatchObject({
        event: { totalMs: Number.NaN, leastMs: 4 },
      });
    }
    expect(decoder.fallbackCount).toBe(0);
  });

  it.each([
    [
      '"stages_ms":{"ttft":3},"milestones_ms":{"ttft":3}',
      'bad_stage_name',
      'must have the stage ttft once',
    ],
    [
      '"milestones_ms":{"a":3,"time_to_a":3}',
      'bad_stage_name',
      'must have the stage time_to_a once',
    ],
    ['"milestones_ms":{"total":3}', 'bad_stage_name', 'milestones_ms.total must have a name'],
    [`"milestones_ms":{"${'a'.repeat(57)}":3}`, 'bad_stage_name', 'must have a name'],
    ['"milestones_ms":{"a":-1}', 'bad_duration', 'milestones_ms.a must be a finite number >= 0'],
    ['"milestones_ms":{"a":3600001}', 'duration_too_large', 'milestones_ms.a must be at most'],
    [
      `"stages_ms":{"q":1},"milestones_ms":{${Array.from({ length: 64 }, (_, i) => `"a${i}":1`)}}`,
      'too_many_stages',
      'must have at most 64 stages with milestones, not 65',
    ],
    [
      '"stages_ms":{},"milestones_ms":{}',
      'missing_durations',
      'must have total_ms or at least one stage',
    ],
  ])('rejects %s as %s', (rest, reason, detail) => {
    const { decode } = testDecoder();
    const { outcomes, details } = decode(`{"ts":1789000000123,"model":"m",${rest}}`);
    expect(outcomes).toMatchObject([{ reason }]);
    expect(details[0]).toContain(detail);
  });
});
