import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { epochMsOf } from '../../../src/decode/epoch-ms-of.ts';
import { findTs, readEventLine, shiftTs } from '../../../src/generate/replay/event-line.ts';

function shift(text: string, shiftMs: number): string | undefined {
  const place = findTs(text);
  return place === undefined ? undefined : shiftTs(text, place, shiftMs);
}

describe('findTs and shiftTs', () => {
  it.each([
    ['{}', undefined],
    ['{"ts":null}', undefined],
    ['{"ts":true}', undefined],
    ['{"ts":"yesterday"}', undefined],
    ['{"ts":"1662858720000"}', undefined],
    ['{"ts":[1000]}', undefined],
    ['{"ts":{"ts":1000}}', undefined],
    ['{"a":{"ts":1000}}', undefined],
    ['{"a":["ts",1000]}', undefined],
    ['{"a":"ts"}', undefined],
    ['{"a":"\\"ts\\":1000"}', undefined],
    ['{"TS":1000}', undefined],
    ['{"ts":1000,"ts":null}', undefined],
    ['{"ts":1000}', '{"ts":1005}'],
    ['{"ts":1,"ts":1000}', '{"ts":1,"ts":1005}'],
    [
      ' { "a" : [ { "ts" : 1 } , "," ] ,\t"ts" : 1000 , "b":2.50}',
      ' { "a" : [ { "ts" : 1 } , "," ] ,\t"ts" : 1005 , "b":2.50}',
    ],
    ['{"t\\u0073":1000}', '{"t\\u0073":1005}'],
    ['{"a\\\\":"\\"","ts":1000}', '{"a\\\\":"\\"","ts":1005}'],
    ['{"ts":1000.25}', '{"ts":1005.25}'],
    ['{"ts":1e3}', '{"ts":1005}'],
    ['{"ts":-3}', '{"ts":2}'],
    ['{"ts":"2026-09-10T00:26:40.123Z"}', '{"ts":"2026-09-10T00:26:40.128Z"}'],
    ['{"ts":"2026-09-10T02:26:40+02:00"}', '{"ts":"2026-09-10T00:26:40.005Z"}'],
    ['{"ts":"2026-12-31T23:59:59.999456Z"}', '{"ts":"2027-01-01T00:00:00.004456Z"}'],
    ['{"model":"größe","ts":1000}', '{"model":"größe","ts":1005}'],
  ])('%s shifted by 5 ms is %s', (text, wanted) => {
    expect(shift(text, 5)).toBe(wanted);
  });

  it('changes nothing but ts in any object, however it is written', () => {
    const objects = fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 5 });
    const shifts = fc.integer({ min: -1_000_000_000, max: 1_000_000_000 });
    const times = fc.integer({ min: 1_500_000_000_000, max: 1_900_000_000_000 });
    fc.assert(
      fc.property(objects, times, shifts, fc.constantFrom(0, 1, 2), (rest, ts, by, indent) => {
        const text = JSON.stringify({ ...rest, ts }, undefined, indent);
        const shifted = shift(text, by) as string;
        expect(shifted).toBe(JSON.stringify({ ...rest, ts: ts + by }, undefined, indent));
        expect(shift(shifted, -by)).toBe(text);
      }),
    );
  });

  it('moves a date-time by exactly the shift', () => {
    const times = fc.date({
      min: new Date('2001-01-01T00:00:00Z'),
      max: new Date('2090-01-01T00:00:00Z'),
      noInvalidDate: true,
    });
    fc.assert(
      fc.property(times, fc.integer({ min: -1e10, max: 1e10 }), (time, by) => {
        const shifted = shift(JSON.stringify({ ts: time }), by) as string;
        expect(epochMsOf(JSON.parse(shifted).ts)).toBe(time.getTime() + by);
      }),
    );
  });
});

describe('readEventLine', () => {
  const read = (text: string) => readEventLine(Buffer.from(text));

  it.each(['', 'x', '{', '[{"ts":1000}]', '"ts"', '1000', 'null', '{"ts":1000', '{"model":"a"}'])(
    'takes %j for no event',
    (text) => {
      expect(read(text)).toBeUndefined();
    },
  );

  it('takes bytes that are no UTF-8 for no event', () => {
    const line = Buffer.from('{"ts":1000,"model":"a"}');
    line[20] = 0xff;
    expect(readEventLine(line)).toBeUndefined();
  });

  it('keys an event by its model and host, as far as it has them', () => {
    expect(read('{"ts":1000,"model":"a","host":"h"}')?.key).toBe('a|h');
    expect(read('{"ts":1000,"model":"a"}')?.key).toBe('a|');
    expect(read('{"ts":1000,"model":5,"host":"h"}')?.key).toBeUndefined();
  });
});
