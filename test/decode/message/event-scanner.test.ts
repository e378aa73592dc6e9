import { describe, expect, it } from 'vitest';
import { mulberry32 } from '../../base/seeded-random.ts';
import { canonicalEvent } from '../canonical-event.ts';
import { testDecoder } from '../outcomes.ts';
import { randomEvent } from '../random-event.ts';
import { referenceDecoder } from '../reference-decoder.ts';
import { expectSame, expectSameOfDamaged } from './damaged-messages.ts';

describe('the scanner against the general path', () => {
  it('gives the same record or rejection for 10,000 random events, however written', () => {
    const fast = testDecoder({ stageCapacity: 5_000 });
    const reference = referenceDecoder();
    for (let seed = 1; seed <= 10_000; seed++) {
      expectSame(Buffer.from(randomEvent(mulberry32(seed))), fast, reference, seed);
    }
    // The comparison means something only if both paths were used often.
    expect(fast.decoder.fallbackCount).toBeGreaterThan(1_000);
    expect(fast.decoder.fallbackCount).toBeLessThan(9_000);
  });

  // More are in event-scanner.slow.test.ts.
  it('does so for 5,000 messages with bytes changed or lost', () => {
    expectSameOfDamaged(5_000, 10_000);
  });

  it.each([
    ['by the kernel', {}],
    ['without it', { kernel: null }],
  ])(
    'does so for events that are like those before but for a value or a byte, read %s',
    (_, by) => {
      const old = testDecoder({ stageCapacity: 100_000, valueCapacity: 1_000_000, ...by });
      let kernelCount = 0;
      const reference = referenceDecoder();
      const values = [
        '0',
        '1.5',
        '"v9"',
        'null',
        'true',
        '3600001',
        '"größe"',
        '{}',
        '1e400',
        '-1',
      ];
      const marks = Buffer.from('{}[]",: 09.e-nt\n\u00ff', 'latin1');
      for (let seed = 1; seed <= 400; seed++) {
        const random = mulberry32(seed * 104_729);
        // One that has met much, and one that learns each shape at once.
        const fast = seed % 2 === 0 ? testDecoder(by) : old;
        const pick = <T>(from: readonly T[]) => from[Math.floor(random() * from.length)] as T;
        const written = random() < 0.5 ? canonicalEvent : randomEvent(random);
        const base = random() < 0.3 ? written.replaceAll(',', ', ').replaceAll(':', ': ') : written;
        // More than it takes to learn another shape.
        for (let i = 0; i < 20; i++) expectSame(Buffer.from(base), fast, reference, seed);
        for (let variant = 0; variant < 20; variant++) {
          let changed = Buffer.from(base);
          const kind = random();
          const at = Math.floor(random() * changed.length);
          if (kind < 0.5) {
            const places = [...base.matchAll(/-?[\d.]+|"[^"]*"(?!\s*:)|true|false|null/g)];
            const place = pick(places);
            const head = base.slice(0, place?.index);
            const tail = base.slice((place?.index ?? 0) + (place?.[0].length ?? 0));
            changed = Buffer.from(`${head}${pick(values)}${tail}`);
          } else if (kind < 0.8) changed[at] = pick([...marks]);
          else if (kind < 0.9) changed = Buffer.concat([changed.subarray(0, at), changed]);
          else changed = Buffer.from(changed.subarray(0, at));
          expectSame(changed, fast, reference, seed);
          expectSame(Buffer.from(base), fast, reference, seed);
        }
        kernelCount += fast.decoder.kernelCount;
      }
      if ('kernel' in by) expect(kernelCount).toBe(0);
      else expect(kernelCount).toBeGreaterThan(3_000);
    },
  );

  it.each([{}, { kernel: null }])(
    'learns nothing from broken events, however many there are between good ones',
    (by) => {
      const good = '{"ts":1789000000123,"model":"m","host":"a","total_ms":1}';
      // Its last key is as long as two of the good one with the value between.
      const broken = '{"ts":1789000000123,"model":"m","total_ms"           :1';
      const { decode } = testDecoder(by);
      decode(good);
      for (let i = 0; i < 40; i++) decode(broken);
      for (let i = 0; i < 3; i++) {
        expect(decode(good).outcomes).toMatchObject([
          { event: { model: 'm', host: 'a', totalMs: 1 } },
        ]);
      }
    },
  );

  it('never throws and always counts on 5,000 messages of random bytes', () => {
    const { decode } = testDecoder({ stageCapacity: 8, valueCapacity: 8 });
    const alphabet = Buffer.from('{}[]",:\\ \n01e-.tsmodel\u00c3\u00a9', 'latin1');
    for (let seed = 1; seed <= 5_000; seed++) {
      const random = mulberry32(seed);
      const bytes = Buffer.from(
        Array.from(
          { length: Math.floor(random() * 60) },
          () => alphabet[Math.floor(random() * alphabet.length)] as number,
        ),
      );
      const { outcomes, count } = decode(bytes);
      expect(count).toBe(outcomes.length);
      expect(count).toBeGreaterThan(0);
    }
  });
});

describe('the plain path', () => {
  const plain: Record<string, string> = {
    'the canonical event': canonicalEvent,
    'every field': `{"ts":1789000000123,"model":"ranker","version":"2","request_type":"search","region":"eu","service":"api","host":"pod-7","tenant":"t","id":"req-81f3","trace_id":"4bf92f3577b34da6","status":"timeout","cold_start":true,"cache_hit":true,"partial":false,"batch_size":8,"request_bytes":18211,"response_bytes":912,"input_tokens":512,"output_tokens":128,"concurrency":12,"queue_depth":3,"weight":10,"total_ms":84.1,"stages_ms":{"queue":6.4}}`,
    'white space as Python writes it': canonicalEvent.replaceAll(/[:,]/g, '$& '),
    'pretty-printed over many lines': JSON.stringify(JSON.parse(canonicalEvent), null, 2),
    'unknown fields, nested and with escapes': canonicalEvent.replace(
      '{',
      '{"x":{"a":["\\u00e9",1e5,null]},',
    ),
    'numbers of 17 digits': canonicalEvent.replace('51.7', '51.700000000000003'),
    'an RFC 3339 ts': canonicalEvent.replace('1789000000123', '"2026-09-10T02:26:40.123456+02:00"'),
    'text beyond ASCII': canonicalEvent.replace('search', 'größe 模型'),
    'null for an absent field': canonicalEvent.replace('"search"', 'null'),
    'keys in another order': '{"total_ms":1,"model":"m","ts":1789000000123}',
  };
  for (const [name, message] of Object.entries(plain)) {
    it(`accepts ${name} without falling back`, () => {
      const { decoder, decode } = testDecoder();
      const { outcomes } = decode(message);
      expect(outcomes).toEqual(referenceDecoder()(Buffer.from(message)));
      expect(outcomes[0]).toHaveProperty('event');
      expect(decoder.fallbackCount).toBe(0);
    });
  }

  it('leaves a key given twice to the general path, where the last one counts', () => {
    const { decoder, decode } = testDecoder();
    const message = '{"ts":1789000000123,"model":"a","model":"b","stages_ms":{"q":-1,"q":2,"r":3}}';
    expect(decode(message).outcomes).toMatchObject([
      {
        event: {
          model: 'b',
          totalMs: 5,
          stages: [
            ['q', 2],
            ['r', 3],
          ],
        },
      },
    ]);
    expect(decoder.fallbackCount).toBe(1);
  });

  it('interns nothing of an event that it rejects', () => {
    const { stages, values, decode } = testDecoder();
    const before = [stages.size, values.size];
    decode('{"ts":1789000000123,"model":"m9","region":"r9","stages_ms":{"s9":1},"total_ms":-1}');
    decode('[{"ts":1789000000123,"model":"m9","stages_ms":{"s9":1}, "total_ms":"1"}]');
    expect([stages.size, values.size]).toEqual(before);
  });

  it('counts names and values beyond the interners as __other__, sums unharmed', () => {
    const { decoder, decode } = testDecoder({ stageCapacity: 3, valueCapacity: 3 });
    const event = (model: string, stages: string) =>
      `{"ts":1789000000123,"model":"${model}","stages_ms":${stages}}`;
    decode(event('a', '{"q":1}'));
    expect(decode(event('b', '{"q":1,"r":2}')).outcomes).toMatchObject([
      {
        event: {
          model: '__other__',
          totalMs: 3,
          stages: [
            ['q', 1],
            ['__other__', 2],
          ],
        },
      },
    ]);
    expect(decoder.fallbackCount).toBe(0);
    expect(decode(event('b', '{"r":2,"s":3,"r":4}')).outcomes).toMatchObject([
      {
        event: {
          totalMs: 7,
          stages: [
            ['__other__', 4],
            ['__other__', 3],
          ],
        },
      },
    ]);
    expect(decode(event('__other__', '{"q":1}')).outcomes).toMatchObject([
      { reason: 'bad_dimension' },
    ]);
  });

  it('reads right again after its interners were cleared', () => {
    const { stages, values, decode } = testDecoder();
    const first = decode(canonicalEvent).outcomes;
    values.clear();
    stages.clear();
    stages.internText('zzz');
    values.internText('yyy');
    expect(decode(canonicalEvent).outcomes).toEqual(first);
  });
});
