// Covers src/decode/json/gap-scanner.ts.

import { describe, expect, it } from 'vitest';
import { limits } from '../../../src/base/limits.ts';
import { SeededRandom } from '../../base/seeded-random.ts';
import { testDecoder } from '../outcomes.ts';

const head = '{"ts":1789000000123,"model":"m","total_ms":900,';

describe('gaps between tokens', () => {
  it.each([
    ['[]', []],
    ['[ ]', []],
    ['null', []],
    ['[21.4]', [21.4]],
    ['[21.4,0,1e1,0.30000000000000004]', [21.4, 0, 10, 0.30000000000000004]],
    ['[ 21.4 , 19 ,\n3600000 ]', [21.4, 19, 3_600_000]],
    ['{}', []],
    ['{"20":3}', [20, 20, 20]],
    ['{"0":0,"20":2,"21.5":1,"2.5e2":1}', [20, 20, 21.5, 250]],
    ['{ "20" : 2 ,\n"3600000":1 }', [20, 20, 3_600_000]],
  ])('%s are read without falling back', (text, gapsMs) => {
    const { decode, decoder } = testDecoder();
    for (const event of [
      `${head}"itl_ms":${text}}`,
      `${head.replaceAll(':', ': ')}"itl_ms": ${text}}`,
    ]) {
      for (let round = 0; round < 3; round++) {
        expect(decode(event).outcomes).toMatchObject([{ event: { gapsMs, totalMs: 900 } }]);
      }
    }
    expect(decoder.fallbackCount).toBe(0);
  });

  it('are those of each event, whichever of the ways reads it', () => {
    const random = new SeededRandom(11);
    const sent = Array.from({ length: 4_000 }, (_, i) => {
      // Long runs of events without gaps are read by the kernel.
      if (i < 1_500 || random.chance(0.4)) return [];
      return Array.from({ length: random.between(1, 400) }, () => random.between(0, 90_000) / 1000);
    });
    const { decode, decoder } = testDecoder();
    const lines = sent.map((itl_ms, i) =>
      JSON.stringify({
        ...{ ts: 1_790_000_000_000, stages_ms: { decode: 5 } },
        ...(itl_ms.length === 0 ? {} : { itl_ms }),
        // An escape leaves an event to JSON.parse once its gaps were read.
        model: i % 50 === 7 ? '"' : 'm',
      }),
    );
    const found = decode(lines.join('\n')).outcomes.map((outcome) =>
      'event' in outcome ? outcome.event.gapsMs : outcome,
    );
    expect(found).toEqual(sent);
    expect(decoder.kernelCount).toBeGreaterThan(1_000);
    expect(decoder.fallbackCount).toBeGreaterThan(50);
  });

  it('are as many as there may be, and no more', () => {
    const { decode, decoder } = testDecoder();
    const of = (count: number) => `${head}"itl_ms":[${Array(count).fill('1').join()}]}`;
    const [most] = decode(of(limits.gapsPerEvent)).outcomes;
    expect(most && 'event' in most && most.event.gapsMs).toHaveLength(limits.gapsPerEvent);
    expect(decoder.fallbackCount).toBe(0);
    const { outcomes, details } = decode(of(limits.gapsPerEvent + 1));
    expect(outcomes).toMatchObject([{ reason: 'bad_field' }]);
    expect(details[0]).toMatch(/^itl_ms must have at most 65536 gaps, not 65537: it is \[1,1,/);
  });

  it.each([
    ['[1,-1]', 'bad_duration', 'itl_ms.1 must be a finite number >= 0: it is -1'],
    ['[1,null]', 'bad_duration', 'itl_ms.1 must be a finite number >= 0: it is null'],
    ['["1"]', 'bad_duration', 'itl_ms.0 must be a finite number >= 0: it is "1"'],
    ['[1e999]', 'bad_duration', 'itl_ms.0 must be a finite number >= 0: it is Infinity'],
    ['[3,3600001]', 'duration_too_large', 'itl_ms.1 must be at most 3600000 ms: it is 3600001'],
    ['{"20":1,"ms":3}', 'bad_duration', 'itl_ms.ms must have milliseconds for its name: it is 3'],
    ['{"-1":3}', 'bad_duration', 'itl_ms.-1 must have milliseconds for its name: it is 3'],
    ['{"1e999":3}', 'bad_duration', 'itl_ms.1e999 must have milliseconds for its name: it is 3'],
    [
      '{"__proto__":3}',
      'bad_duration',
      'itl_ms.__proto__ must have milliseconds for its name: it is 3',
    ],
    [
      '{"3600001":3}',
      'duration_too_large',
      'itl_ms.3600001 must be of at most 3600000 ms: it is 3',
    ],
    ['{"20":1.5}', 'bad_field', 'itl_ms.20 must be a whole number >= 0: it is 1.5'],
    ['{"20":-1}', 'bad_field', 'itl_ms.20 must be a whole number >= 0: it is -1'],
    ['{"20":null}', 'bad_field', 'itl_ms.20 must be a whole number >= 0: it is null'],
    [
      '{"20":60000,"30":5537}',
      'bad_field',
      'itl_ms must have at most 65536 gaps, not 65537: it is {"20":60000,"30":5537}',
    ],
    [
      '21',
      'bad_duration',
      'itl_ms must be an array of milliseconds, or an object of counts by milliseconds: it is 21',
    ],
  ])('%s cost the event', (text, reason, detail) => {
    const { outcomes, details } = testDecoder().decode(`${head}"itl_ms":${text}}`);
    expect(outcomes).toMatchObject([{ reason }]);
    expect(details).toEqual([detail]);
  });

  it('by their lengths in any order, or one length twice, are what JSON.parse reads', () => {
    const { decode, decoder } = testDecoder();
    for (const text of ['{"30":1,"20":2}', '{"20":5,"20":2,"30":1}', '{"2e1":2,"30":1}']) {
      const { outcomes } = decode(`${head}"itl_ms":${text}}`);
      expect(outcomes).toMatchObject([{ event: { gapsMs: [20, 20, 30] } }]);
    }
    expect(decoder.fallbackCount).toBe(2);
    const most = decode(`${head}"itl_ms":{"20":60000,"30":5536}}`).outcomes[0];
    expect(most && 'event' in most && most.event.gapsMs).toHaveLength(limits.gapsPerEvent);
  });

  it('make no event of what has no duration', () => {
    const { outcomes } = testDecoder().decode('{"ts":1789000000123,"model":"m","itl_ms":[1,2]}');
    expect(outcomes).toMatchObject([{ reason: 'missing_durations' }]);
  });
});
