import { describe, expect, it } from 'vitest';
import { limits } from '../../../src/base/limits.ts';
import { canonicalEvent } from '../canonical-event.ts';
import { testDecoder } from '../outcomes.ts';
import { referenceDecoder } from '../reference-decoder.ts';

const good = '{"ts":1789000000123,"model":"m","total_ms":1}';
const length = good.length;
const accepted = expect.objectContaining({ event: expect.anything() });
/** The good event with another text in place of one of its parts. */
const but = (part: string, text: string) => good.replace(part, text);
const nested = (depth: number) => `{"x":${'['.repeat(depth)}${']'.repeat(depth)},${good.slice(1)}`;

describe('a message that holds no event', () => {
  const messages: [string, Buffer | string | null, string][] = [
    ['a tombstone', null, 'tombstone'],
    ['no bytes', '', 'empty_message'],
    ['blanks', ' \r\n\t', 'empty_message'],
    ['a byte order mark alone', '\ufeff', 'empty_message'],
    ['an empty array', ' [ ] ', 'empty_message'],
    ['plain text', 'hello\nworld\n', 'invalid_json'],
    ['a number', '42', 'not_an_object'],
    ['a text', '"x"', 'not_an_object'],
    ['null', 'null', 'not_an_object'],
    ['UTF-16', Buffer.from(`\ufeff${good}`, 'utf16le'), 'invalid_utf8'],
    ['gzip', Buffer.from('1f8b0800000000000003', 'hex'), 'invalid_utf8'],
  ];
  for (const [name, message, reason] of messages) {
    it(`is one rejection, ${reason}: ${name}`, () => {
      const bytes = typeof message === 'string' ? Buffer.from(message) : message;
      const { outcomes, details, count } = testDecoder().decode(bytes);
      expect(count).toBe(1);
      expect(outcomes).toMatchObject([{ reason, index: 0, end: bytes?.length ?? 0 }]);
      expect(details[0]).toMatch(/ must /);
    });
  }

  it('is message_too_large at 50 MB, and at one byte over the limit', () => {
    const { decode } = testDecoder();
    expect(decode(Buffer.alloc(50_000_000, 0x7b)).outcomes).toEqual([
      { reason: 'message_too_large', index: 0, start: 0, end: 50_000_000 },
    ]);
    const { decode: decodeShort } = testDecoder({ maxMessageBytes: length });
    expect(decodeShort(good).outcomes).toEqual([accepted]);
    expect(decodeShort(`${good} `).outcomes).toMatchObject([{ reason: 'message_too_large' }]);
  });
});

describe('one bad event', () => {
  const stages = (text: string) => but('"total_ms":1', `"stages_ms":${text}`);
  const many = (count: number) =>
    stages(
      JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, i) => [`s${i}`, 1]))),
    );
  const events: [string, string][] = [
    ['invalid_json', but('}', '')],
    ['invalid_json', but(',', ',,')],
    ['invalid_json', but('1}', 'NaN}')],
    ['invalid_json', but('1}', '01}')],
    ['invalid_json', but('1}', '+1}')],
    ['invalid_json', but('"m"', '"m\u0001"')],
    ['invalid_json', but('"m"', '"m\\x"')],
    ['missing_ts', but('"ts":1789000000123,', '')],
    ['missing_ts', but('1789000000123', 'null')],
    ['bad_ts', but('1789000000123', '"1789000000123"')],
    ['bad_ts', but('1789000000123', '"2026-11-21"')],
    ['bad_ts', but('1789000000123', '"2026-11-21T08:00:00"')],
    ['bad_ts', but('1789000000123', '"2026-02-29T08:00:00Z"')],
    ['bad_ts', but('1789000000123', 'true')],
    ['bad_ts', but('1789000000123', '1e999')],
    // Seconds, microseconds, nanoseconds, an unset clock and the first moment too late.
    ['ts_out_of_range', but('1789000000123', '1789000000')],
    ['ts_out_of_range', but('1789000000123', '1789000000123000')],
    ['ts_out_of_range', but('1789000000123', '1789000000123000000')],
    ['ts_out_of_range', but('1789000000123', '0')],
    ['ts_out_of_range', but('1789000000123', '-1')],
    ['ts_out_of_range', but('1789000000123', '"1970-01-01T00:00:00Z"')],
    ['ts_out_of_range', but('1789000000123', '946684799999')],
    ['ts_out_of_range', but('1789000000123', '4102444800000')],
    ['ts_out_of_range', but('1789000000123', '"2100-01-01T00:00:00Z"')],
    ['missing_model', but('"model":"m",', '')],
    ['missing_model', but('"m"', 'null')],
    ['missing_model', but('"m"', '""')],
    ['bad_dimension', but('"m"', '7')],
    ['bad_dimension', but('"m"', '"__other__"')],
    ['bad_dimension', but('"m"', `"${'m'.repeat(257)}"`)],
    ['bad_dimension', but('"m"', `"${'é'.repeat(129)}"`)],
    ['bad_dimension', but('{', '{"region":["eu"],')],
    ['bad_dimension', but('{', '{"tenant":"__other__",')],
    ['bad_status', but('{', '{"status":"OK",')],
    ['bad_status', but('{', '{"status":200,')],
    ['bad_field', but('{', '{"cold_start":"true",')],
    ['bad_field', but('{', '{"cache_hit":1,')],
    ['bad_field', but('{', '{"partial":0,')],
    ['bad_field', but('{', '{"batch_size":"8",')],
    ['bad_field', but('{', '{"queue_depth":-1,')],
    ['bad_field', but('{', '{"weight":0,')],
    ['bad_field', but('{', '{"weight":1.5,')],
    ['bad_field', but('{', '{"weight":10001,')],
    ['bad_field', but('{', '{"output_tokens":1e999,')],
    ['bad_field', but('{', '{"id":7,')],
    ['bad_field', but('{', '{"trace_id":["f"],')],
    ['missing_durations', but(',"total_ms":1', '')],
    ['missing_durations', stages('{}')],
    ['missing_durations', stages('null')],
    ['missing_durations', but('"total_ms":1', '"total_ms":null,"partial":true')],
    ['bad_duration', but('1}', '-0.1}')],
    ['bad_duration', but('1}', '1e999}')],
    ['bad_duration', but('1}', '"1"}')],
    ['bad_duration', but('1}', 'true}')],
    ['bad_duration', stages('7')],
    ['bad_duration', stages('[1]')],
    ['bad_duration', stages('{"q":"1"}')],
    ['bad_duration', stages('{"q":null}')],
    ['bad_duration', stages('{"q":-1}')],
    ['bad_duration', stages('{"q":1e999}')],
    ['bad_duration', stages('{"q":{"ms":1}}')],
    ['duration_too_large', but('1}', '1e308}')],
    ['duration_too_large', but('1}', '3600000.1}')],
    ['duration_too_large', stages('{"q":1e308}')],
    ['duration_too_large', stages('{"q":3600000,"r":1}')],
    ['bad_stage_name', stages('{"total":1}')],
    ['bad_stage_name', stages('{"":1}')],
    ['bad_stage_name', stages('{"1st":1}')],
    ['bad_stage_name', stages('{"a b":1}')],
    ['bad_stage_name', stages('{"größe":1}')],
    ['bad_stage_name', stages('{"__proto__":1}')],
    ['bad_stage_name', stages('{"__proto__":{"polluted":1},"q":1}')],
    ['bad_stage_name', stages(`{"${'s'.repeat(65)}":1}`)],
    ['too_many_stages', many(65)],
    ['too_deep', nested(64)],
    ['too_deep', nested(100_000)],
  ];
  for (const [reason, text] of events) {
    it(`is ${reason}, once, alone and in an array: ${text.slice(0, 90)}`, () => {
      const { decode } = testDecoder();
      const alone = decode(text);
      expect(alone.outcomes).toEqual([
        { reason, index: 0, start: 0, end: Buffer.byteLength(text) },
      ]);
      expect(alone.details[0]).toMatch(/ must /);
      expect(alone.details[0]?.length).toBeLessThan(320);
      if (reason === 'invalid_json') return;
      expect(decode(`[${good},${text},${good}]`).outcomes).toEqual([
        accepted,
        { reason, index: 1, start: length + 2, end: length + 2 + Buffer.byteLength(text) },
        accepted,
      ]);
    });
  }

  it('names the field, the rule and the value in its detail', () => {
    const { decode } = testDecoder();
    const detail = (text: string) => decode(text).details[0];
    expect(detail(stages('{"forward":-3}'))).toBe(
      'stages_ms.forward must be a finite number >= 0: it is -3',
    );
    expect(detail(but('1}', '"84.1"}'))).toBe(
      'total_ms must be a finite number >= 0: it is "84.1"',
    );
    expect(detail(but('"model":"m",', ''))).toMatch(/^model must .*: it is missing$/);
    expect(detail(but('1789000000123', '1789000000'))).toMatch(/^ts must .*: it is 1789000000$/);
  });

  it('does not take __proto__ for a field, nor change any prototype', () => {
    const { decode } = testDecoder();
    const hidden = '{"__proto__":{"model":"m","total_ms":1},"ts":1789000000123}';
    expect(decode(hidden).outcomes).toMatchObject([{ reason: 'missing_model' }]);
    expect(decode(but('{', '{"__proto__":{"polluted":1},')).outcomes).toEqual([accepted]);
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
    expect(decode(stages('{"constructor":1,"toString":2}')).outcomes).toMatchObject([
      {
        event: {
          stages: [
            ['constructor', 1],
            ['toString', 2],
          ],
        },
      },
    ]);
  });

  it('is invalid_utf8 where a text is cut within a character, its neighbours unharmed', () => {
    const bad = Buffer.from(but('"m"', '"é"')).toString('latin1').replace('\u00a9', '');
    const message = Buffer.from(`${good}\n${bad}\n${good}`, 'latin1');
    expect(testDecoder().decode(message).outcomes).toEqual([
      accepted,
      { reason: 'invalid_utf8', index: 1, start: length + 1, end: length + 1 + bad.length },
      accepted,
    ]);
    const truncated = Buffer.from(good.replace('"m"', '"é')).subarray(0, good.indexOf('m"') + 1);
    expect(testDecoder().decode(truncated).outcomes).toMatchObject([{ reason: 'invalid_utf8' }]);
  });
});

describe('an event in the form of another tool', () => {
  const event = '{"ts":1789000000123,"model":"m","total_ms":84.1}';
  const connect = 'the event seems to be in payload: set value.converter.schemas.enable=false';
  it.each<[string, string | Buffer, string, string]>([
    ['an envelope of Connect', `{"schema":{},"payload":${event}}`, 'missing_ts', connect],
    ['one without a schema', `{"payload":${event}}`, 'missing_ts', connect],
    ['one of Debezium', `{"op":"c","payload":${event}}`, 'missing_ts', connect],
    ['a CloudEvent', `{"specversion":"1.0","data":${event}}`, 'missing_ts', 'preset: cloudevents'],
    ['an OTLP request', '{"resourceSpans":[]}', 'missing_ts', 'set format: otlp_json'],
    ['one in protobuf', Buffer.from([10, 200, 1, 0xff]), 'invalid_utf8', 'set format: otlp_proto'],
    ['JSON in a text', JSON.stringify(event), 'not_an_object', 'it was serialized twice'],
    ['an array in a text', JSON.stringify(`[${event}]`), 'not_an_object', 'serialized twice'],
    [
      'a text behind the header of a schema registry',
      Buffer.concat([Buffer.from([0, 0, 0, 1, 200]), Buffer.from(event)]),
      'invalid_json',
      'the header of a schema registry (byte 0, schema id 456)',
    ],
    [
      'Avro behind that header',
      Buffer.from([0, 0, 0, 0, 7, 0xff, 0xfe, 2]),
      'invalid_json',
      'schema id 7); publish with a plain JSON serializer, or set the format',
    ],
  ])('is rejected with what to do: %s', (_, message, reason, hint) => {
    const bytes = Buffer.isBuffer(message) ? message : Buffer.from(message);
    const { outcomes, details } = testDecoder().decode(bytes);
    expect(outcomes).toMatchObject([{ reason, index: 0 }]);
    expect(details[0]).toContain(hint);
  });

  it('is not taken for one without that form', () => {
    for (const text of ['{"model":"m"}', '"a text"', '{"payload":1,"model":"m"}', '\0']) {
      const { details } = testDecoder().decode(Buffer.from(text));
      expect(details[0]).not.toMatch(/payload|twice|registry/);
    }
  });
});

describe('limits at their edge', () => {
  it('accepts the first and last moment, the longest texts and durations, 64 stages', () => {
    const { decode } = testDecoder();
    const stages = Object.fromEntries(Array.from({ length: 64 }, (_, i) => [`s${i}`, 1]));
    for (const text of [
      but('1789000000123', '946684800000'),
      but('1789000000123', '4102444799999.9'),
      but('"m"', `"${'é'.repeat(128)}"`),
      but('1}', '3600000}'),
      but('1}', '-0}'),
      but('"total_ms":1', `"stages_ms":${JSON.stringify(stages)}`),
      but('"total_ms":1', `"stages_ms":{"${'s'.repeat(64)}":0}`),
      nested(63),
    ]) {
      expect(decode(text).outcomes, text).toEqual([accepted]);
    }
    expect(decode(but('1}', '-0}')).outcomes).toMatchObject([{ event: { totalMs: 0 } }]);
  });

  it('sums the stages, accepts a given total, and makes none for a partial event', () => {
    const { decode } = testDecoder();
    const total = (rest: string) => {
      const [outcome] = decode(`{"ts":1789000000123,"model":"m",${rest}}`).outcomes;
      return outcome !== undefined && 'event' in outcome ? outcome.event.totalMs : outcome;
    };
    expect(total('"stages_ms":{"a":0.1,"b":0.2}')).toBe(0.1 + 0.2);
    expect(total('"stages_ms":{"a":0.1,"b":0.2},"partial":false')).toBe(0.1 + 0.2);
    expect(total('"stages_ms":{"a":1},"total_ms":9')).toBe(9);
    expect(total('"stages_ms":{"a":1},"total_ms":9,"partial":true')).toBe(9);
    expect(total('"stages_ms":{"a":1},"partial":true')).toBeNaN();
    expect(total('"stages_ms":{"\\u0061":1},"partial":true')).toBeNaN();
  });
});

describe('a message of many events', () => {
  it('accepts lines, objects in a row, pretty-printed objects and arrays alike', () => {
    const pretty = JSON.stringify(JSON.parse(canonicalEvent), null, 2);
    for (const message of [
      `${good}\n${good}\r\n${good}\n`,
      good + good + good,
      `\ufeff ${pretty}\n${pretty} ${pretty}\n\n`,
      `[${good},${good},${good}]`,
      ` [\n${pretty} ,\n${pretty},${pretty}\n]\n`,
    ]) {
      const { outcomes, count } = testDecoder().decode(message);
      expect(outcomes).toEqual([accepted, accepted, accepted]);
      expect(count).toBe(3);
    }
  });

  it('ends a broken event at its first newline', () => {
    const lines = [good, '{"ts":1,"model":', good, 'garbage {', good, '{"a":"', good, '}', good];
    const { outcomes, count } = testDecoder().decode(lines.join('\n'));
    expect(count).toBe(9);
    const starts = lines.map((_, i) => lines.slice(0, i).join('\n').length + (i === 0 ? 0 : 1));
    expect(outcomes).toEqual(
      lines.map((line, i) => {
        const start = starts[i] as number;
        const end = start + line.length;
        return line === good ? accepted : { reason: 'invalid_json', index: i, start, end };
      }),
    );
  });

  it('ends a rejected event that is JSON at its closing brace, newlines or not', () => {
    const bad = '{\n "ts": 1,\n "model": "m"\n}';
    expect(testDecoder().decode(`${good}\n${bad}${good}`).outcomes).toEqual([
      accepted,
      { reason: 'ts_out_of_range', index: 1, start: length + 1, end: length + 1 + bad.length },
      accepted,
    ]);
    const latin = Buffer.from('{\n "model": "\xe9"\n}\n', 'latin1');
    expect(testDecoder().decode(Buffer.concat([latin, Buffer.from(good)])).outcomes).toEqual([
      { reason: 'invalid_utf8', index: 0, start: 0, end: latin.length - 1 },
      accepted,
    ]);
  });

  it('rejects the rest of an array at once where it breaks', () => {
    const { decode } = testDecoder();
    const at = length + 2;
    const rest = (message: string, index: number, start: number) =>
      ({ reason: 'invalid_json', index, start, end: message.length }) as const;
    for (const tail of ['{"ts":1', `${good}`, `${good}}`, '', '"x']) {
      const message = `[${good},${tail}`;
      expect(decode(message).outcomes, message).toEqual([accepted, rest(message, 1, at)]);
    }
    const more = `[${good}]\n${good}`;
    expect(decode(more).outcomes).toEqual([accepted, rest(more, 1, length + 3)]);
  });

  it('evaluates an array element by element, whatever it is', () => {
    const { outcomes } = testDecoder().decode(`[1,"a,]",[${good}],${good} ${good},,null,${good}]`);
    expect(outcomes.map((o) => ('reason' in o ? o.reason : 'good'))).toEqual([
      'not_an_object',
      'not_an_object',
      'not_an_object',
      'invalid_json',
      'invalid_json',
      'not_an_object',
      'good',
    ]);
  });

  it('rejects what is over the limit of events as one', () => {
    const most = limits.eventsPerMessage;
    for (const message of [
      `${good}\n`.repeat(most + 2),
      `[${`${good},`.repeat(most + 1)}${good}]`,
    ]) {
      const { outcomes, count } = testDecoder().decode(message);
      expect(count).toBe(most + 1);
      expect(outcomes.length).toBe(most + 1);
      expect(outcomes[most - 1]).toEqual(accepted);
      expect(outcomes[most]).toMatchObject({ reason: 'too_many_events', end: message.length });
    }
  });
});

describe('hostile messages', () => {
  it('are decoded in bounded work, however deep, broken or long', () => {
    // Each of these took minutes or a stack overflow, if parted carelessly.
    const { decode } = testDecoder();
    const deep = 100_000;
    expect(decode('['.repeat(deep)).count).toBe(1);
    expect(decode('{"a":'.repeat(deep)).count).toBe(1);
    expect(decode(`{"a":${'['.repeat(deep)}\n${good}`).outcomes.at(-1)).toEqual(accepted);
    for (const line of ['{"a":', '{"a":"', '{', '{x}', '{"a":[{},', '[', '"']) {
      const message = `{\n${`${line}\n`.repeat(20_000)}${good}`;
      const { outcomes, count } = decode(message);
      expect(count, line).toBe(20_002);
      expect(outcomes.at(-1), line).toEqual(accepted);
    }
  });

  it('have a deep event of many lines rejected as one, and the next one counted', () => {
    const bad = `${'{"a":\n'.repeat(1_000)}1${'}\n'.repeat(1_000)}`;
    expect(testDecoder().decode(bad + good).outcomes).toEqual([
      { reason: 'too_deep', index: 0, start: 0, end: bad.length - 1 },
      accepted,
    ]);
  });
});

it('the reference used in these tests agrees on what is listed here', () => {
  const { decode } = testDecoder();
  for (const message of [`${good}\n{"a":\n${good}`, `[${good},,1]`, good + good, '{}{}', '[{}]x']) {
    expect(decode(message).outcomes).toEqual(referenceDecoder()(Buffer.from(message)));
  }
});
