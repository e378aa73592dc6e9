import { describe, expect, it } from 'vitest';
import { compileMapping, type Mapped } from '../../../src/formats/mapping/compile-mapping.ts';
import { mappingSchema } from '../../../src/formats/mapping/mapping-schema.ts';

const minimal = {
  start: { path: 'start', unit: 'ms' },
  total: { path: 'took', unit: 'ms' },
  model: 'model',
};
const object = { start: 1795608000123, took: 5, model: 'ranker' };

/** Maps an object by a mapping that adds to the smallest one. */
function map(more: Record<string, unknown>, fields: Record<string, unknown> = {}): Mapped {
  const mapping = mappingSchema.parse({ ...minimal, ...more });
  return compileMapping(mapping)({ ...object, ...fields });
}

const ofDraft = (mapped: Mapped) => {
  if (mapped === 'skip' || 'reason' in mapped)
    throw new Error(`no event: ${JSON.stringify(mapped)}`);
  return mapped.draft;
};

const hostile: readonly [unknown, string][] = [
  [true, 'true'],
  [{}, 'an object'],
  [[], 'an empty list'],
  [[1], 'a list'],
  ['NaN', '"NaN"'],
  ['1e', '"1e"'],
  ['Infinity', '"Infinity"'],
  ['0x10', '"0x10"'],
  ['x'.repeat(1000), `"${'x'.repeat(79)}…`],
];

describe('times and durations', () => {
  it('of seconds in floating point are exact', () => {
    const times = {
      start: { path: 'a', unit: 's' },
      end: { path: 'b', unit: 's' },
      total: undefined,
    };
    const draft = ofDraft(map(times, { a: 1795625130.238437, b: 1795625130.617212 }));
    expect(draft).toEqual({ ts: 1795625130238, total_ms: 378.775, model: 'ranker' });
  });

  it.each([
    ['s', '0.0000015', 0.0015],
    ['ms', 1e-7, 0],
    ['ms', 6e-7, 0.000001],
    ['us', 1500, 1.5],
    ['us', '14439', 14.439],
    ['ns', 15357694, 15.357694],
    ['ns', '900719925474099', 900719925.474099],
    ['ms', 1e-300, 0],
    ['s', 0.1, 100],
    ['s', 1.005, 1005],
  ])('in %s: %j is %d ms', (unit, took, ms) => {
    expect(ofDraft(map({ total: { path: 'took', unit } }, { took })).total_ms).toBe(ms);
  });

  it('may be date-times, to the nanosecond', () => {
    const draft = ofDraft(
      map(
        { start: { path: 'a' }, end: { path: 'b' }, total: undefined },
        { a: '2026-11-25T12:00:00.123456789+01:00', b: '2026-11-25T11:00:01Z' },
      ),
    );
    expect(draft).toMatchObject({ ts: 1795604400123, total_ms: 876.543211 });
  });

  it('give the start from the end, and fall back in order', () => {
    const mapping = {
      start: undefined,
      end: [{ path: 'none' }, { path: ['nothing', 'end'], unit: 's' }],
      total: [
        { path: 'ns', unit: 'ns' },
        { path: 'took', unit: 'ms' },
      ],
    };
    const draft = ofDraft(map(mapping, { end: '1795608000.128', ns: null }));
    expect(draft).toMatchObject({ ts: 1795608000123, total_ms: 5 });
  });

  it('say what is missing, and where', () => {
    expect(map({}, { start: null })).toEqual({
      reason: 'missing_ts',
      detail: 'the start must be at "start" or "took": nothing is there',
    });
    expect(map({}, { model: '-' })).toEqual({
      reason: 'missing_model',
      detail: 'the model must be at "model": nothing is there',
    });
    expect(map({ model: undefined })).toMatchObject({ reason: 'missing_model' });
  });

  it('that end before they start give no event', () => {
    const mapping = { end: { path: 'end', unit: 'ms' }, total: undefined };
    expect(map(mapping, { end: 1795608000122.5 })).toEqual({
      reason: 'ends_before_start',
      detail: 'the request must not end before it starts: 0.5 ms',
    });
  });

  it.each(hostile)('refuse %j', (value, shown) => {
    expect(map({}, { start: value })).toEqual({
      reason: 'bad_ts',
      detail: `"start" must be a number (ms) or an RFC 3339 date-time: it is ${shown}`,
    });
    expect(map({}, { took: value })).toEqual({
      reason: 'bad_duration',
      detail: `"took" must be a number (ms): it is ${shown}`,
    });
  });

  it('refuse numbers below 0, and numbers without a unit', () => {
    expect(map({}, { took: -1 })).toMatchObject({
      detail: '"took" must be a number >= 0: it is -1',
    });
    expect(map({ start: { path: 'start' } })).toMatchObject({
      detail: '"start" must be an RFC 3339 date-time: it is 1795608000123',
    });
  });
});

describe('stages', () => {
  const list = { stages: [{ name: 'downstream', path: 'up', unit: 's', sum: true }] };

  it.each([
    ['0.010, 0.024', { downstream: 34 }],
    ['-, 0.024 : 0.001', { downstream: 25 }],
    ['-, -', {}],
    ['', {}],
    [0.5, { downstream: 500 }],
  ])('add up %j', (up, stages) => {
    expect(ofDraft(map(list, { up })).stages_ms).toEqual(stages);
  });

  it('refuse a sum of what is no number', () => {
    expect(map(list, { up: '0.1, NaN' })).toEqual({
      reason: 'bad_duration',
      detail: '"up" must be a number (s): it is "NaN"',
    });
  });

  it('have a start and an end, and conditions', () => {
    const stages = [
      { name: 'late', start: { path: 'a', unit: 'ms' }, end: { path: 'b', unit: 'ms' } },
      { name: 'first', end: { path: 'b', unit: 'ms' }, where: [{ path: 'stream', equals: true }] },
      { name: 'other', path: 'b', unit: 'ns', where: [{ path: 'no' }] },
    ];
    const times = { a: 1795608000124, b: 1795608000126.25 };
    expect(ofDraft(map({ stages }, { ...times, stream: true })).stages_ms).toEqual({
      late: 2.25,
      first: 3.25,
    });
    expect(ofDraft(map({ stages }, times)).stages_ms).toEqual({ late: 2.25 });
    expect(map({ stages }, { ...times, a: 1795608000127 })).toMatchObject({
      reason: 'ends_before_start',
    });
  });

  it('come from an object of names, prototype keys as they are', () => {
    const stages = { path: ['none', 'times'], unit: 'us' };
    const times = JSON.parse('{"queue":1500,"none":null,"__proto__":1,"constructor":2}');
    const found = ofDraft(map({ stages }, { times })).stages_ms as Record<string, number>;
    expect(Object.entries(found)).toEqual([
      ['queue', 1.5],
      ['__proto__', 0.001],
      ['constructor', 0.002],
    ]);
    expect(ofDraft(map({ stages }, {})).stages_ms).toEqual({});
    expect(map({ stages }, { times: [] })).toMatchObject({
      detail: '"times" must be an object of stages: it is an empty list',
    });
    expect(map({ stages }, { times: { queue: 'x' } })).toMatchObject({
      detail: '"times.queue" must be a number (us): it is "x"',
    });
  });

  it('come from a list of objects, those of one name together', () => {
    const stages = { path: 'spans', name: 'n', duration: 'd.us', unit: 'us' };
    const spans = [
      { n: 'a', d: { us: 1000 } },
      { n: 'b', d: { us: 1 } },
      { n: 'a', d: { us: 500 } },
      { n: 'c' },
    ];
    expect(ofDraft(map({ stages }, { spans })).stages_ms).toEqual({ a: 1.5, b: 0.001 });
    expect(ofDraft(map({ stages }, { spans: [] })).stages_ms).toEqual({});
    expect(map({ stages }, { spans: { n: 'a' } })).toMatchObject({
      detail: '"spans" must be a list of stages: it is an object',
    });
    expect(map({ stages }, { spans: [spans[0], 7] })).toEqual({
      reason: 'bad_stage_name',
      detail: '"spans[1].n" must be the name of a stage: it is missing',
    });
    expect(map({ stages }, { spans: [{ n: 'a', d: { us: {} } }] })).toMatchObject({
      detail: '"spans[0].d.us" must be a number (us): it is an object',
    });
  });
});

describe('status', () => {
  const status = [
    { path: 'flags', map: { DC: 'cancelled' } },
    {
      path: 'code',
      map: {
        504: 'timeout',
        '5xx': 'error',
        '>=600': 'error',
        '<200': 'error',
        '<=399': 'ok',
        '>900': 'ok',
      },
    },
  ];

  it.each([
    ['DC', 200, 'cancelled'],
    ['UF', 504, 'timeout'],
    ['-', 503, 'error'],
    ['-', '503', 'error'],
    ['-', 0, 'error'],
    ['-', 200, 'ok'],
    ['-', 399, 'ok'],
    ['-', 700, 'error'],
    ['-', null, undefined],
  ])('of flags %j and code %j is %j', (flags, code, expected) => {
    expect(ofDraft(map({ status }, { flags, code })).status).toBe(expected);
  });

  it.each([
    [404, '404'],
    ['NaN', '"NaN"'],
    [' ', '" "'],
    ['__proto__', '"__proto__"'],
    [{}, 'an object'],
    [[504], 'a list'],
  ])('refuses %j', (code, shown) => {
    expect(map({ status }, { code })).toEqual({
      reason: 'bad_status',
      detail: `"code" must be a value that the mapping knows: it is ${shown}`,
    });
  });

  it('may have an answer for all others', () => {
    const rule = { path: 'code', map: { 1: 'error' }, otherwise: 'ok' };
    expect(ofDraft(map({ status: rule }, { code: 7 })).status).toBe('ok');
  });
});

describe('fields', () => {
  it('come from paths with fallbacks, patterns and constants', () => {
    const more = {
      model: [{ path: 'url', pattern: '^/predict/([^/?]+)' }, 'a."gen_ai.model"', 'list[1].m'],
      version: 'v',
      region: { value: 'eu' },
      partial: { value: true },
      cache_hit: 'hit',
      batch_size: ['none', 'n'],
      host: '__proto__',
      id: 'constructor',
    };
    const rest = { v: 3, hit: false, n: '16' };
    const common = { ts: 1795608000123, total_ms: 5, version: '3', region: 'eu', partial: true };
    const expected = { ...common, cache_hit: false, batch_size: 16 };
    expect(ofDraft(map(more, { ...rest, url: '/predict/a?x=/b' }))).toEqual({
      ...expected,
      model: 'a',
    });
    const dotted = { ...rest, url: '/other', a: { 'gen_ai.model': 'b' } };
    expect(ofDraft(map(more, dotted))).toEqual({ ...expected, model: 'b' });
    const listed = { ...rest, list: [{ m: 'x' }, { m: 'c' }] };
    expect(ofDraft(map(more, listed))).toEqual({ ...expected, model: 'c' });
  });

  it.each([
    ['model', 'bad_dimension', 'a text', [true, {}, []]],
    ['tenant', 'bad_dimension', 'a text', [true, {}, []]],
    ['id', 'bad_field', 'a text', [true, {}, []]],
    ['trace_id', 'bad_field', 'a text', [true, {}, []]],
    ['cold_start', 'bad_field', 'true or false', ['true', 1, {}, []]],
    ['input_tokens', 'bad_field', 'a number', ['NaN', '1e5', '-1', true, {}, []]],
  ])('%s refuses other types', (name, reason, rule, values) => {
    for (const value of values) {
      const mapped = map({ [name]: 'here' }, { here: value });
      expect(mapped).toMatchObject({ reason });
      expect(JSON.stringify(mapped)).toContain(`\\"here\\" must be ${rule}: it is `);
    }
  });

  it('with a pattern refuse what is no text', () => {
    const model = { path: 'url', pattern: '^/([^/]+)' };
    expect(map({ model }, { url: 7 })).toEqual({
      reason: 'bad_dimension',
      detail: '"url" must be a text: it is 7',
    });
  });

  it('have a model from outside where there is none', () => {
    const compiled = compileMapping(mappingSchema.parse(minimal), 'outside');
    expect(ofDraft(compiled({ ...object, model: '' })).model).toBe('outside');
    expect(ofDraft(compiled(object)).model).toBe('ranker');
  });
});

describe('objects', () => {
  it('with texts made to keep a pattern busy take no longer', () => {
    const model = { path: 'url', pattern: '^https?://[^/]+/v1/([^/:]+):predict$' };
    const compiled = compileMapping(mappingSchema.parse({ ...minimal, model }));
    const url = `http://${'a'.repeat(2_000)}/v1/${'b'.repeat(2_000_000)}`;
    for (let i = 0; i < 1_000; i++) expect(compiled({ ...object, url })).toHaveProperty('reason');
  });

  const compiled = compileMapping(
    mappingSchema.parse({
      ...minimal,
      unwrap: ['message', 'log'],
      where: [{ path: 'kind', equals: 1 }],
    }),
  );

  it('are unwrapped, and left out where a condition does not hold', () => {
    const text = JSON.stringify({ ...object, kind: 1 });
    const expected = { draft: { ts: 1795608000123, total_ms: 5, model: 'ranker' } };
    expect(compiled({ message: text })).toEqual(expected);
    expect(compiled({ log: ` ${text}\n` })).toEqual(expected);
    expect(compiled({ log: JSON.parse(text) })).toEqual(expected);
    expect(compiled({ ...object, kind: 1 })).toEqual(expected);
    expect(compiled({ ...object, kind: '1' })).toBe('skip');
    expect(compiled({ message: 'server started' })).toBe('skip');
    expect(compiled({})).toBe('skip');
    expect(compiled({ message: '{"a":' })).toEqual({
      reason: 'invalid_json',
      detail: '"message" must hold valid JSON: it is "{\\"a\\":"',
    });
  });

  it.each([null, 1, 'text', [], true])('are no %j', (value) => {
    expect(compiled(value)).toMatchObject({ reason: 'not_an_object' });
  });

  it('of any form never make it throw', () => {
    const everywhere = compileMapping(
      mappingSchema.parse({
        start: { path: 'a', unit: 's' },
        total: { path: 'a[0].b', unit: 's', sum: true },
        stages: { path: 'a', name: 'a', duration: 'a', unit: 's' },
        status: { path: 'a', map: { '5xx': 'ok' } },
        model: { path: 'a', pattern: '^(.+)$' },
      }),
    );
    for (const [value] of hostile) {
      for (const a of [value, [value], { b: value }, [{ b: value }]]) {
        expect(everywhere({ a })).toHaveProperty('reason');
      }
    }
  });
});

describe('gaps between tokens', () => {
  const itl = { path: ['gaps', 'more.gaps'], unit: 's' };

  it('are a list of durations', () => {
    const of = (record: Record<string, unknown>) => ofDraft(map({ itl }, record)).itl_ms;
    expect(of({ gaps: [0.0214, '0.25', 0, 1e-9] })).toEqual([21.4, 250, 0, 1e-6]);
    expect(of({ more: { gaps: [] } })).toEqual([]);
    expect(of({})).toBeUndefined();
    expect(of({ gaps: null })).toBeUndefined();
  });

  it.each([
    [7, '"gaps" must be a list: it is 7'],
    [{ a: 1 }, '"gaps" must be a list: it is an object'],
    [[1, -1], '"gaps[1]" must be a number >= 0: it is -1'],
    [[1, 'x'], '"gaps[1]" must be a number (s): it is "x"'],
    [[[1]], '"gaps[0]" must be a number (s): it is a list'],
  ])('%j is none', (gaps, detail) => {
    expect(map({ itl }, { gaps })).toEqual({ reason: 'bad_duration', detail });
  });
});

describe('milestones', () => {
  const milestones = [{ name: 'headers', end: { path: 'sent', unit: 'ms' } }];

  it('are read as stages are', () => {
    const mapped = map(
      { milestones, stages: { path: 's', unit: 'ms' } },
      { sent: 1795608000127, s: { q: 1 } },
    );
    expect(ofDraft(mapped)).toMatchObject({ milestones_ms: { headers: 4 }, stages_ms: { q: 1 } });
  });

  it('suffice where there is neither a total nor a stage', () => {
    const { total: _, ...rest } = minimal;
    expect(mappingSchema.safeParse(rest).success).toBe(false);
    expect(mappingSchema.safeParse({ ...rest, milestones }).success).toBe(true);
  });
});

describe('own dimensions and facets', () => {
  const attributes = { adapter: ['lora', 'x.adapter'], gpu: { value: 'h100' }, pool: 'pool' };

  it('are the values that the object has, by name', () => {
    expect(ofDraft(map({ attributes }, { x: { adapter: 'a' }, pool: 3 }))).toMatchObject({
      attributes: { adapter: 'a', gpu: 'h100', pool: 3 },
    });
    expect(ofDraft(map({ attributes: { pool: 'pool' } })).attributes).toBe(undefined);
  });

  it('may come from headers', () => {
    const mapping = mappingSchema.parse({
      ...{ ...minimal, headers: 'h', attributes: { adapter: 'h.x-adapter' } },
    });
    const mapped = compileMapping(mapping)(object, () => ({ 'x-adapter': 'lora-7' }));
    expect(ofDraft(mapped).attributes).toEqual({ adapter: 'lora-7' });
  });

  it('have a value and a name that can be one', () => {
    expect(map({ attributes }, { pool: [1] })).toEqual({
      reason: 'bad_dimension',
      detail: '"pool" must be a text, a number, true or false: it is a list',
    });
    const named = { ...minimal, attributes: { 'a=b': 'x' } };
    expect(mappingSchema.safeParse(named).success).toBe(false);
  });
});
