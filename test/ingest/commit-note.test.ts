import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeNote, encodeNote } from '../../src/ingest/commit-note.ts';

const time = fc.option(fc.integer({ min: -1e15, max: 1e15 }), { nil: undefined });
const note = fc.record({
  watermarkMs: time,
  intent: fc.option(
    fc.record({ endOffset: fc.maxSafeNat(), nowMs: fc.integer({ min: 0, max: 1e15 }) }),
    { nil: undefined },
  ),
});

describe('a commit note', () => {
  it('comes back as it was, well within what Kafka takes', () => {
    fc.assert(
      fc.property(note, (given) => {
        const text = encodeNote(given);
        expect(decodeNote(text)).toEqual(given);
        expect(text.length).toBeLessThan(200);
      }),
      { seed: 6, numRuns: 300 },
    );
  });

  it('is this text: a predecessor of another version must read it', () => {
    const intent = { endOffset: 20, nowMs: 7 };
    expect(encodeNote({ watermarkMs: 5, intent })).toBe(
      '{"v":"tailmark/1","wm":5,"end":20,"now":7}',
    );
    expect(encodeNote({ watermarkMs: undefined, intent: undefined })).toBe('{"v":"tailmark/1"}');
  });

  it.each([
    ['nothing', ''],
    ['text', 'committed by hand'],
    ['another program’s JSON', '{"v":"other","wm":5,"end":20,"now":7}'],
    ['JSON of another form', '[1]'],
    ['a number', '7'],
    ['null', 'null'],
    ['a text', '"tailmark/1"'],
    ['half of one', '{"v":"tailmark/1","wm":5,"en'],
    ['an end that is no offset', '{"v":"tailmark/1","end":1.5,"now":7}'],
    ['an end that is no number', '{"v":"tailmark/1","end":"20","now":7}'],
    ['a clock that is no number', '{"v":"tailmark/1","end":20,"now":"x"}'],
  ])('is not read out of %s', (_, metadata) => {
    expect(decodeNote(metadata)).toBeUndefined();
  });

  it('refuses what another version of tailmark wrote', () => {
    expect(() => decodeNote('{"v":"tailmark/2","wm":5,"end":20}')).toThrow(
      'Cannot take over a partition as its commit must be of tailmark/1: it is of tailmark/2',
    );
  });

  it('has no watermark where that is no number', () => {
    expect(decodeNote('{"v":"tailmark/1","wm":"x"}')).toEqual({
      watermarkMs: undefined,
      intent: undefined,
    });
  });

  it('is never read out of garbage with an exception', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        expect(decodeNote(text)).toBeUndefined();
      }),
      { seed: 7, numRuns: 500 },
    );
  });
});
