import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { recordReaderOf } from '../../../src/topics/record-reader-of.ts';
import { fastestMs } from '../../fuzz/fastest-ms.ts';
import { mappingOf, recordDecoder, rejectionOf } from './decode-records.ts';

const map = mappingOf(`
unwrap: log
where: [{path: m}]
start: {path: t, unit: ms}
total: {path: took, unit: ms}
model: m
`);
const plain = recordDecoder(recordReaderOf({ format: 'json', framing: 'none' }), map);
const framed = recordDecoder(recordReaderOf({ format: 'json', framing: 'confluent' }), map);
const header = Buffer.from([0, 0, 0, 1, 2]);

const line = (model: string) => `{"t":1795608000123,"took":5,"m":"${model}"}`;
const decode = (text: string) => plain.decode(Buffer.from(text));

/** Models of the events, and reasons of what is none. */
const summary = ({ outcomes }: ReturnType<typeof decode>) =>
  outcomes.map((each) => {
    if ('event' in each) return each.event.model;
    return 'skipped' in each ? 'skip' : `${each.reason} ${'index' in each ? each.index : ''}`;
  });

describe('a message of JSON', () => {
  it.each([
    ['an object', line('a'), ['a']],
    ['an object over lines', `\n{\n  "t": 1795608000123,\n "took": 5, "m": "a" }\n`, ['a']],
    ['an object a line', `${line('a')}\r\n\n${line('b')}\n`, ['a', 'b']],
    ['an array', `[${line('a')},\n ${line('b')} ]`, ['a', 'b']],
    ['a byte order mark', `\uFEFF${line('a')}`, ['a']],
    ['what a log shipper wraps', JSON.stringify({ log: line('a') }), ['a']],
    ['what no rule maps', `{"t":1}\n${line('a')}\n{"log":"started"}`, ['skip', 'a', 'skip']],
    ['a broken line', `${line('a')}\n{"t":\n${line('b')}`, ['a', 'invalid_json 1', 'b']],
    [
      'other values',
      `7\n${line('a')}\n"x"\n[1]`,
      ['not_an_object 0', 'a', 'not_an_object 2', 'not_an_object 3'],
    ],
    ['an array of others', `[null,[],${line('a')}]`, ['not_an_object 0', 'not_an_object 1', 'a']],
    ['a broken array', `[${line('a')},`, ['invalid_json 0']],
    ['an empty array', '[]', ['empty_message 0']],
    ['nothing', '', ['empty_message 0']],
    ['space', ' \n ', ['empty_message 0']],
    ['strings with brackets', `[{"m":"]\\"},{","t":1795608000123,"took":1}]`, [']"},{']],
  ])('may hold %s', (_, text, expected) => {
    const result = decode(text);
    expect(summary(result)).toEqual(expected);
    expect(result.consumed).toBe(expected.length);
  });

  it('is a tombstone or too large like any other', () => {
    expect(rejectionOf(plain.decode(null))).toMatch(/^tombstone: /);
    const small = recordDecoder(recordReaderOf({ format: 'json', framing: 'none' }), map, 10);
    expect(rejectionOf(small.decode(Buffer.from(line('a'))))).toBe(
      'message_too_large: The message must have at most 10 bytes (limits.max_message_bytes): it has 36',
    );
  });

  it('has an event that is too large, too deep or not UTF-8 alone rejected', () => {
    const large = `{"m":"${'x'.repeat(2 ** 20)}"}`;
    const deep = `{"m":${'['.repeat(70)}${']'.repeat(70)}}`;
    const expected = ['message_too_large 0', 'too_deep 1', 'a'];
    expect(summary(decode([large, deep, line('a')].join('\n')))).toEqual(expected);
    expect(summary(decode(`[${[large, deep, line('a')].join()}]`))).toEqual(expected);
    const bytes = Buffer.concat([Buffer.from([0x22, 0xff, 0x22, 0x0a]), Buffer.from(line('a'))]);
    expect(summary(plain.decode(bytes))).toEqual(['invalid_utf8 0', 'a']);
  });

  it('is refused in a moment where it nests a million levels', () => {
    for (const text of ['['.repeat(1e6), '['.repeat(1e6) + ']'.repeat(1e6), '{"a":'.repeat(1e6)]) {
      expect(decode(text).outcomes).toHaveLength(1);
      expect(fastestMs(() => decode(text))).toBeLessThanOrEqual(200);
    }
  });

  it('holds 100,000 events at most', () => {
    const { outcomes, consumed } = decode('{"t":1}\n'.repeat(100_001));
    expect(consumed).toBe(100_001);
    expect(outcomes.at(-1)).toMatchObject({ reason: 'too_many_events', index: 100_000 });
    expect(decode(`[${'{"t":1},'.repeat(100_001)}1]`).outcomes.at(-1)).toMatchObject({
      reason: 'too_many_events',
      index: 100_000,
      detail: 'A message must hold at most 100000 events: it holds more',
    });
  });

  it.each([
    ['lines', (item: string, count: number) => `${item}\n`.repeat(count)],
    ['an array', (item: string, count: number) => `[${`${item},`.repeat(count - 1)}${item}]`],
  ])('of %s has its rest rejected after 10,000 invalid events', (_, message) => {
    expect(decode(message('1', 10_000)).outcomes.at(-1)).toMatchObject({ reason: 'not_an_object' });
    const { outcomes, letters } = decode(message('1', 10_003));
    expect(outcomes).toHaveLength(10_001);
    expect(outcomes.at(-1)).toMatchObject({
      index: 10_000,
      reason: 'too_many_events',
      detail: 'At most 10000 events of a message must be invalid: more may be',
    });
    expect(letters.at(-1)?.length).toBeLessThan(10);
  });

  it('is not parsed where it holds more than its events can', () => {
    const whole = (text: string) => rejectionOf(decode(text));
    expect(whole(`[${'[[[]]],'.repeat(166_667)}1]`)).toBe(
      'too_many_events: The message must hold at most 500000 objects and arrays: it holds 500002',
    );
    expect(whole(`[${'{"t":1},'.repeat(200_000)}1]`)).toBe(
      'too_many_events: An object or array of the message must have at most 200000 members: one has more',
    );
    expect(decode(`[${'{"t":1},'.repeat(199_999)}1]`).outcomes).toHaveLength(100_001);
    const object = `{"m":[${'1,\n'.repeat(400_000)}1]}`;
    expect(whole(object)).toBe(
      `message_too_large: An event must have at most 1048576 bytes: it has ${object.length}`,
    );
  });
});

describe('a dead letter', () => {
  it('is the event as a message of its own', () => {
    const bad = '{"m":"a"}';
    const texts = (text: string) => decode(text).letters.map(String);
    expect(texts(`[${line('a')}, ${bad} ]`)).toEqual([line('a'), bad]);
    expect(texts(`${bad}\r\n${line('a')}`)).toEqual([bad, line('a')]);
    expect(texts(` ${bad}`)).toEqual([` ${bad}`]);
  });

  it('has the header of a registry again', () => {
    const bad = Buffer.from('{"m":"a"}');
    const with5 = (...parts: Buffer[]) => Buffer.concat([header, ...parts]);
    expect(framed.decode(with5(bad)).letters).toEqual([with5(bad)]);
    const array = with5(Buffer.from('['), bad, Buffer.from(','), bad, Buffer.from(']'));
    expect(framed.decode(array).letters).toEqual([with5(bad), with5(bad)]);
  });

  it('is rejected again for the same reason', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(
            fc.json({ maxDepth: 2 }),
            fc.constant(line('a')),
            fc.string(),
            fc.constant('{"m":1}'),
          ),
        ),
        fc.boolean(),
        fc.boolean(),
        (parts, isArray, isFramed) => {
          const text = isArray ? `[${parts.join(',')}]` : parts.join('\n');
          const body = Buffer.from(text);
          const { decode: run } = isFramed ? framed : plain;
          const result = run(isFramed ? Buffer.concat([header, body]) : body);
          expect(result.consumed).toBe(result.outcomes.length);
          const rejected = result.outcomes.filter((each) => !('skipped' in each));
          for (const [at, letter] of result.letters.entries()) {
            const again = run(letter).outcomes;
            const first = rejected[at];
            if (first !== undefined && 'reason' in first && first.reason !== 'empty_message') {
              expect(again).toMatchObject([{ reason: first.reason }]);
            }
          }
        },
      ),
      { seed: 40, numRuns: 500 },
    );
  });
});

describe('the header of a registry', () => {
  it('is passed over', () => {
    const message = Buffer.concat([header, Buffer.from(line('a'))]);
    expect(summary(framed.decode(message))).toEqual(['a']);
  });

  it('is missed, or found where there must be none', () => {
    expect(rejectionOf(framed.decode(Buffer.from(line('a'))))).toMatch(
      /^invalid_json: The message must begin with byte 0 and a schema id in 4 bytes \(framing: confluent\): it is JSON: "{/,
    );
    expect(rejectionOf(plain.decode(Buffer.concat([header, Buffer.from(line('a'))])))).toMatch(
      /^invalid_json: An event must be valid JSON: it is the header of a schema registry \(byte 0, schema id 258\); set framing: confluent$/,
    );
  });
});

describe('a record without a mapping', () => {
  it('is a timing event itself', () => {
    const { decode: run } = recordDecoder(recordReaderOf({ format: 'json', framing: 'none' }));
    const event = { ts: 1795608000123, model: 'ranker', stages_ms: { queue: 1, forward: 2 } };
    expect(run(Buffer.from(JSON.stringify(event))).outcomes).toMatchObject([
      {
        event: {
          model: 'ranker',
          totalMs: 3,
          stages: [
            ['queue', 1],
            ['forward', 2],
          ],
        },
      },
    ]);
    expect(rejectionOf(run(Buffer.from('{"ts":1795608000123}')))).toMatch(/^missing_model: /);
  });
});
