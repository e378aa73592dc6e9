import { describe, expect, it } from 'vitest';
import { EventKernel, kernelIntegers } from '../../../src/decode/kernel/event-kernel.ts';
import { testDecoder } from '../outcomes.ts';

const names = {
  dimensions: ['model', 'attributes.adapter', 'attributes.pool'],
  facets: ['attributes.gpu', 'attributes.adapter'],
} as const;
const event = (attributes: string) =>
  `{"ts":1789000000123,"model":"m","attributes":${attributes},"total_ms":1}`;
const own = (attributes: string, gpu = '', adapter = '') => ({
  event: { totalMs: 1, attributes, ownFacets: [gpu, adapter] },
});

/** What becomes of an event the first time, and then in its known shape. */
function outcomesOf(text: string, kernel: 'kernel' | 'no kernel' = 'kernel') {
  const test = testDecoder({ names, ...(kernel === 'no kernel' && { kernel: null }) });
  const { outcomes, details } = test.decode(Array.from({ length: 600 }, () => text).join('\n'));
  return { test, outcomes: [outcomes[0], outcomes[599]], details };
}

describe.each(['kernel', 'no kernel'] as const)('attributes of an event, with %s', (kernel) => {
  it.each([
    ['{"adapter":"a","gpu":"h100"}', own('adapter=a', 'h100', 'a')],
    ['{"pool": 3, "adapter": true}', own('adapter=true,pool=3', '', 'true')],
    ['{"pool":"x,y","other":{"deep":[1,{}]},"adapter":null}', own('pool=x%2Cy')],
    ['{"adapter":"\\u00e9\\"","gpu":""}', own('adapter=é"', '', 'é"')],
    ['{"adapter":"a","adapter":"b"}', own('adapter=b', '', 'b')],
    ['{"adapter":-1.50}', own('adapter=-1.5', '', '-1.5')],
    ['{"__proto__":1,"constructor":2}', own('')],
    ['{}', own('')],
    ['null', own('')],
  ])('%s are read', (attributes, expected) => {
    const { outcomes } = outcomesOf(event(attributes), kernel);
    expect(outcomes).toMatchObject([expected, expected]);
  });

  it('that are too long count as __other__, and are counted', () => {
    const long = 'x'.repeat(257);
    const { outcomes } = outcomesOf(event(`{"adapter":"${long}","gpu":"g"}`), kernel);
    const expected = own('adapter=__other__', 'g', '__other__');
    expect(outcomes).toMatchObject([expected, expected]);
    expect(outcomes).toMatchObject([{ event: { longTexts: 256 } }, { event: { longTexts: 256 } }]);
  });

  it.each([
    ['[1]', 'bad_field', 'attributes must be an object of names and values: it is [1]'],
    [
      '{"adapter":[1]}',
      'bad_dimension',
      'attributes.adapter must be a string, a number or a boolean: it is [1]',
    ],
    [
      '{"gpu":"__other__"}',
      'bad_dimension',
      'attributes.gpu must be another text, as this one is reserved: it is "__other__"',
    ],
    ['{"gpu":"a}', 'invalid_json', undefined],
  ])('%s reject it', (attributes, reason, detail) => {
    const { outcomes, details } = outcomesOf(event(attributes), kernel);
    expect(outcomes).toMatchObject([{ reason }, { reason }]);
    if (detail !== undefined) expect(details[0]).toBe(detail);
  });
});

describe('the kernel', () => {
  it('reads flat attributes, also where none is configured', () => {
    const flat = event('{"adapter":"a","gpu": 3}');
    for (const given of [{ names }, {}]) {
      const { decoder, decode } = testDecoder(given);
      decode(`${flat}\n${flat}`);
      const before = decoder.kernelCount;
      decode(Array.from({ length: 1_000 }, () => flat).join('\n'));
      expect(decoder.kernelCount - before).toBeGreaterThan(900);
      expect(decoder.fallbackCount).toBe(0);
    }
  });

  it('says where they are', () => {
    const { integers } = EventKernel.shared() as EventKernel;
    const { decode } = testDecoder({ names });
    const flat = event('{"adapter":"a"}');
    decode(`${flat}\n${flat}`);
    decode(flat);
    const { objectStart, objectEnd } = kernelIntegers;
    const at = [integers[objectStart], integers[objectEnd]];
    expect(flat.slice(...at)).toBe('{"adapter":"a"}');
  });

  it('leaves no attributes to the next event', () => {
    const plain = '{"ts":1789000000123,"model":"m","total_ms":1}';
    const { decode } = testDecoder({ names });
    const lines = Array.from({ length: 600 }, () => `${event('{"adapter":"a"}')}\n${plain}`);
    const { outcomes } = decode(lines.join('\n'));
    expect(outcomes.slice(-2)).toMatchObject([own('adapter=a', '', 'a'), own('')]);
  });

  it('knows more different attributes than it keeps', () => {
    const { decode } = testDecoder({ names });
    const texts = Array.from({ length: 10_000 }, (_, n) => `a${n % 9_000}`);
    const lines = texts.map((text) => event(`{"adapter":"${text}"}`));
    const { outcomes } = decode(lines.join('\n'));
    expect(outcomes).toMatchObject(texts.map((text) => own(`adapter=${text}`, '', text)));
  });
});
