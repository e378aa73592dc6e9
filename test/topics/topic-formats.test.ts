import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { configSchema } from '../../src/config/schema.ts';
import { findingFrom } from '../../src/topics/probe-topics.ts';
import { TopicFormats } from '../../src/topics/topic-formats.ts';
import { TopicSample } from '../../src/topics/topic-sample.ts';

const folder = mkdtempSync(join(tmpdir(), 'tailmark-formats-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function fileOf(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

const open = (...topics: readonly unknown[]) =>
  TopicFormats.open(configSchema.parse({ kafka: { topics } }));
const mapping = 'start: {path: t, unit: ms}\ntotal: {path: d, unit: ms}\nmodel: m\n';

describe('the identity of a format', () => {
  const own = { topic: 't', format: 'json', mapping: fileOf('a.yaml', mapping) };
  const other = { ...own, mapping: fileOf('b.yaml', mapping.replace('path: d', 'path: e')) };
  const same = { ...own, mapping: fileOf('c.yaml', `# the same rules\n${mapping}`) };

  it('is that of its rules, wherever they are written, and none of timing events', () => {
    const of = (entry: unknown) => open(entry).identityOf('t');
    expect(of('t')).toBeUndefined();
    expect(of({ topic: 't', format: 'timing' })).toBeUndefined();
    expect(of(own)).toMatch(/^[\w-]{12}$/);
    expect(of(same)).toBe(of(own));
    expect(of(other)).not.toBe(of(own));
    expect(of({ topic: 't', format: 'otlp_proto' })).not.toBe(
      of({ topic: 't', format: 'otlp_proto', preset: 'vllm' }),
    );
    expect(open('u', own).identityOf('u')).toBeUndefined();
    const rules = (text: string) => ({
      ...{ topic: 't', format: 'otlp_proto', mapping: fileOf('rules.yaml', text) },
    });
    const queue = of(rules('stages: {queue: [q]}\n'));
    expect(queue).not.toBe(of(rules('stages: {queue: [p]}\n')));
    expect(queue).toBe(of(rules('stages:\n  queue: [q]\n')));
  });
});

describe('files that formats name', () => {
  it('are refused with their place and what is wrong', () => {
    const wrong = fileOf('wrong.yaml', 'start: {path: t, unit: weeks}\ntotall: 1\n');
    expect(() => open({ topic: 't', format: 'json', mapping: wrong })).toThrow(
      /wrong\.yaml:1:24: start\.unit must be one of/,
    );
    const absent = join(folder, 'absent.yaml');
    expect(() => open({ topic: 't', format: 'json', mapping: absent })).toThrow(
      `Cannot read the mapping of a topic as the file must be readable: ${absent} gives ENOENT`,
    );
  });
});

describe('what check --connect says of a topic', () => {
  const nothing = {
    events: 0,
    unmapped: 0,
    rejects: [],
    longTexts: undefined,
    missing: undefined,
  };
  const names = { models: [], stages: [] };

  it('is what its newest records are', () => {
    const some = { models: ['llama'], stages: ['queue', 'decode'] };
    expect(findingFrom({ ...nothing, ...some, events: 7, unmapped: 3 }, 2, 'topic t')).toEqual({
      ok: true,
      isWarning: false,
      what: 'topic t',
      detail:
        'the newest 2 records hold 7 requests of llama with queue, decode; 3 that no rule maps',
    });
  });

  it('warns of texts that are too long', () => {
    const some = { models: ['llama'], stages: [], longTexts: 'texts too long: request_type 7' };
    expect(findingFrom({ ...nothing, ...some, events: 7 }, 2, 'topic t')).toEqual({
      ok: true,
      isWarning: true,
      what: 'topic t',
      detail: 'the newest 2 records hold 7 requests of llama; texts too long: request_type 7',
    });
  });

  it('is a failure where all are rejected, and a warning where no rule maps any', () => {
    const json = { reason: 'invalid_json', count: 2, detail: 'The event must be JSON.' } as const;
    const wrong = findingFrom({ ...nothing, ...names, rejects: [json] }, 2, 'topic t');
    expect(wrong).toMatchObject({
      ok: false,
      detail:
        'the newest 2 records hold 0 requests; 2 rejected: invalid_json, The event must be JSON.',
      hint: 'Compare its format, preset, mapping and unwrap in kafka.topics with what writes to it.',
    });
    const late = { reason: 'missing_ts', count: 1, detail: 'ts must be there' } as const;
    expect(findingFrom({ ...nothing, ...names, rejects: [json, late] }, 3, 'topic t').detail).toBe(
      'the newest 3 records hold 0 requests; ' +
        '3 rejected: 2 invalid_json (The event must be JSON.), 1 missing_ts (ts must be there)',
    );
    expect(findingFrom({ ...nothing, ...names, unmapped: 9 }, 2, 'topic t')).toMatchObject({
      ok: true,
      isWarning: true,
      hint: expect.stringMatching(/^No request is counted: look at the preset/),
    });
  });
});

describe('fields of a mapping that no record has', () => {
  const bounds = { maxMessageBytes: 1e6, maxDurationMs: 3.6e6, maxDimensionBytes: 256 };
  const rules = fileOf(
    'missing.yaml',
    'start: {path: t, unit: ms}\ntotal: {path: total_msec, unit: ms}\nmodel: m\n' +
      'stages: [{name: queue, path: q, unit: ms}, {name: run, path: r, unit: ms}]\n' +
      'status: {path: statuss, map: {OK: ok}}\nid: request_idd\nhost: [pod, node]\n',
  );
  const record = { t: 1_790_000_000_000, m: 'a', q: 1, node: 'n', status: 'OK', request_id: '7' };
  const findingOf = (entry: object) => {
    const sample = new TopicSample();
    const { stages, values, found } = sample;
    const options = { ...bounds, stages, values };
    const decoder = open({ topic: 't', ...entry }).decoderOf('t', options, found);
    for (const at of [1, 2]) {
      decoder.decode(Buffer.from(JSON.stringify({ ...record, q: at })), sample);
    }
    return findingFrom(sample.summary(), 2, 'topic t');
  };

  it('are named, and are a warning', () => {
    expect(findingOf({ format: 'json', mapping: rules })).toEqual({
      ok: true,
      isWarning: true,
      what: 'topic t',
      detail:
        'the newest 2 records hold 2 requests of a with queue; total, stage run, status and id were found in none of 2 records',
      hint: 'Compare their paths in its mapping with the records; leave out what they never have.',
    });
  });

  it('are not named of a preset', () => {
    const preset = { format: 'json', preset: 'nginx' };
    const sample = new TopicSample();
    const { stages, values, found } = sample;
    const decoder = open({ topic: 't', ...preset }).decoderOf(
      't',
      { ...bounds, stages, values },
      found,
    );
    decoder.decode(Buffer.from('{"msec":1790000000,"request_time":1,"uri":"/predict/a"}'), sample);
    expect(sample.summary()).toMatchObject({ events: 1, missing: undefined });
  });
});

describe('the decoder of a topic', () => {
  const bounds = { maxMessageBytes: 1e6, maxDurationMs: 3.6e6, maxDimensionBytes: 256 };
  const decoded = (entry: object, message: unknown, headers: Record<string, string> = {}) => {
    const sample = new TopicSample();
    const { stages, values } = sample;
    const decoder = open({ topic: 't', ...entry }).decoderOf('t', { ...bounds, stages, values });
    const text = typeof message === 'string' ? message : JSON.stringify(message);
    const pairs = Object.entries(headers).map(([name, of]) => [name, Buffer.from(of)] as const);
    decoder.decode(Buffer.from(text), sample, () => new Map(pairs));
    const { events, models, rejects } = sample.summary();
    const [{ reason, detail } = {}] = rejects;
    return { events, models, ...(reason && { reason, detail }) };
  };
  const own = 'start: {path: t, unit: ms}\ntotal: {path: d, unit: ms}\nmodel: m\n';
  const json = { format: 'json', mapping: fileOf('own.yaml', own) };
  const accessLine =
    '127.0.0.1 - - [25/Nov/2026:16:42:07 +0000] "POST /predict/ranker HTTP/1.1" 200 17 "-" "client/1" rt=0.167 urt="0.168"';
  const record = { t: 1_790_000_000_000, d: 5 };

  it.each([
    ['a mapping', json, { ...record, m: 'a' }, { events: 1, models: ['a'] }],
    ['a model of its own', { ...json, model: 'b' }, record, { events: 1, models: ['b'] }],
    [
      'a place to unwrap',
      { ...json, unwrap: 'log' },
      { log: JSON.stringify({ ...record, m: 'c' }) },
      { events: 1, models: ['c'] },
    ],
    [
      'lines of text of its preset, as they are or wrapped',
      { format: 'json', preset: 'nginx' },
      `${accessLine}\r\n${JSON.stringify({ log: `${accessLine}\n` })}\n`,
      { events: 2, models: ['ranker'] },
    ],
    [
      'text that is no line of its preset',
      { format: 'json', preset: 'nginx' },
      accessLine.replace('"POST', 'POST'),
      {
        events: 0,
        reason: 'invalid_json',
        detail: expect.stringMatching(/or nginx's combined .* rt=0\.167 urt=\\"0\.168\\""$/),
      },
    ],
    ['no model', json, record, { events: 0, reason: 'missing_model' }],
  ])('uses %s', (_, entry, message, expected) => {
    expect(decoded(entry, message)).toMatchObject(expected);
  });

  it('reads headers of a record where its mapping has a key for them', () => {
    const mapping = (where: string) =>
      fileOf(
        `headers-${where.length}.yaml`,
        `headers: h\n${where}start: {path: h.time, unit: ms}\ntotal: {path: d, unit: ms}\nmodel: h."the.model"\n`,
      );
    const headers = { time: '1790000000000', 'the.model': 'größe' };
    const plain = { format: 'json', mapping: mapping('') };
    expect(decoded(plain, [{ d: 1 }, { d: 2, h: { time: 1 } }], headers)).toEqual({
      events: 2,
      models: ['größe'],
    });
    expect(decoded(plain, { d: 1 }, {})).toMatchObject({
      events: 0,
      reason: 'missing_ts',
      detail: 'the start must be at "h.time" or "d": nothing is there',
    });
    const some = { format: 'json', mapping: mapping('where: [{path: h.type, equals: a}]\n') };
    expect(decoded(some, { d: 1 }, headers)).toEqual({ events: 0, models: [] });
    expect(decoded(some, { d: 1 }, { ...headers, type: 'a' })).toMatchObject({ events: 1 });
    const wrapped = { ...plain, unwrap: 'message' };
    expect(decoded(wrapped, { message: '{"d":1}' }, headers)).toMatchObject({ events: 1 });
    // Without the key a field of that name is the record's own.
    const own = {
      ...json,
      mapping: fileOf(
        'h.yaml',
        'start: {path: h.t, unit: ms}\ntotal: {path: d, unit: ms}\nmodel: h.m\n',
      ),
    };
    expect(decoded(own, { d: 1, h: { t: 1_790_000_000_000, m: 'own' } }, headers)).toMatchObject({
      models: ['own'],
    });
  });

  it('refuses a schema that cannot be used when the configuration is read', () => {
    const schema = fileOf('own.proto', 'syntax = "proto3"; message A { string a = 1; }');
    const entry = { topic: 't', format: 'protobuf', schema_file: schema, message: 'Nope' };
    expect(() => open(entry)).toThrow(/Cannot use the schema in schema_file .*own\.proto: /);
  });

  it('uses rules of single spans', () => {
    const mapping = fileOf('stages.yaml', 'stages: {queue: [q]}\nfields: {model: [m]}\n');
    const attributes = [{ key: 'm', value: { stringValue: 'by rule' } }];
    const times = {
      startTimeUnixNano: '1790000000000000000',
      endTimeUnixNano: '1790000000005000000',
    };
    const spans = [{ name: 'q', parentSpanId: '00f067aa0ba902b7', attributes, ...times }];
    const message = { resourceSpans: [{ scopeSpans: [{ spans }] }] };
    expect(decoded({ format: 'otlp_json', mapping }, message)).toEqual({
      events: 1,
      models: ['by rule'],
    });
  });
});
