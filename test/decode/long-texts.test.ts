import { describe, expect, it } from 'vitest';
import { LongTexts, optionalTexts } from '../../src/decode/long-texts.ts';
import { testDecoder } from './outcomes.ts';

const event = (field: string, text: string) =>
  JSON.stringify({ ts: 1_789_000_000_123, model: 'm', [field]: text, total_ms: 7 });
const longest = 'x'.repeat(256);
/** 257 and 258 bytes, of which one has fewer characters than the limit. */
const tooLong = ['x'.repeat(257), 'é'.repeat(129)];
/** Where the decoder keeps the field. */
const keptAs: Readonly<Record<string, string>> = { id: 'requestId', trace_id: 'traceId' };

const decoders = [
  ['with the kernel', {}],
  ['in JavaScript', { kernel: null }],
] as const;

describe.each(decoders)('an optional text that is too long, read %s', (_, options) => {
  it.each(optionalTexts)('costs %s, not the request', (field) => {
    const { decode } = testDecoder(options);
    const kept = keptAs[field] ?? field;
    // Events of the shape before and after, so that every path has read one.
    const plain = Array<string>(600).fill(event(field, longest));
    const outcomesOf = (text: string) => decode([...plain, text, ...plain].join('\n')).outcomes;
    for (const text of tooLong) {
      const outcomes = outcomesOf(event(field, text));
      expect(outcomes).toHaveLength(1_201);
      expect(outcomes[600]).toMatchObject({
        event: {
          totalMs: 7,
          model: 'm',
          [kept]: kept === field ? '__other__' : '',
          longTexts: 1 << optionalTexts.indexOf(field),
        },
      });
      for (const other of [outcomes[599], outcomes[601], outcomes[1_200]]) {
        expect(other).toMatchObject({ event: { [kept]: longest, longTexts: 0 } });
      }
    }
  });

  it('rejects the request where it is the model', () => {
    const { decode } = testDecoder(options);
    for (const text of tooLong) {
      const { outcomes, details } = decode(
        JSON.stringify({ ts: 1_789_000_000_123, model: text, total_ms: 7 }),
      );
      expect(outcomes).toMatchObject([{ reason: 'bad_dimension' }]);
      expect(details[0]).toMatch(/^model must be a string of at most 256 UTF-8 bytes: it is "/);
    }
  });
});

it('counts texts by field', () => {
  const texts = new LongTexts();
  expect(texts.summary()).toBeUndefined();
  const bits = (...fields: (typeof optionalTexts)[number][]) =>
    fields.reduce((sum, field) => sum | (1 << optionalTexts.indexOf(field)), 0);
  texts.add(bits('id'));
  texts.add(bits('request_type', 'id'));
  texts.add(0);
  expect(texts.list()).toEqual([
    { field: 'request_type', count: 1 },
    { field: 'id', count: 2 },
  ]);
  expect(texts.summary()).toBe('texts too long: request_type 1, id 2');
});
