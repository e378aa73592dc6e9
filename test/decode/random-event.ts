import { standardStages } from '../../src/base/dimensions.ts';

type Random = () => number;

const texts = [
  'ranker',
  'v2',
  'eu-west-1',
  '',
  'a b',
  'größe',
  '模型',
  '🚀',
  'x_1',
  '7',
  '2026-11',
];
const escapedTexts = ['x"y', 'a\\b', 'l\nf', '\u0000', '\ud800'];
const reserved = ['__other__', '__proto__', 'total', 'x'.repeat(257), 'é'.repeat(129)];
const textFields = ['version', 'request_type', 'region', 'service', 'host', 'tenant'];
const amounts = [
  'batch_size',
  'request_bytes',
  'response_bytes',
  'input_tokens',
  'output_tokens',
  'concurrency',
  'queue_depth',
];
const numberTexts = [
  '0',
  '0.0',
  '-0',
  '1e2',
  '1E+2',
  '12.5e-1',
  '3600000',
  '0.1',
  '0.30000000000000004',
];
const weights = ['1', '10', '1e2', '10000', '2', '1.0', 'null', '0', '-1', '1.5', '10001', '"2"'];
const oddTexts = [
  '-1',
  '3600000.1',
  '1e999',
  '01',
  '1.',
  '.5',
  '1e',
  'NaN',
  '"7"',
  'true',
  'null',
  '{}',
  '[]',
  '1e308',
];
const unknowns = [
  '{"a":[1,{"b":null}],"c":"\\u00e9\\n"}',
  '[]',
  '"x\\"y"',
  '-1.5e-7',
  'true',
  'null',
];

/**
 * The JSON text of an event in one of the many ways to write it: keys in any order, white space,
 * escapes, number formats, unknown fields. Most are good; some have one of the known mistakes.
 */
export function randomEvent(random: Random): string {
  const fields: [string, string][] = [
    ['ts', timestamp(random)],
    ['model', text(random)],
  ];
  const maybe = (share: number, key: string, value: () => string) => {
    if (random() < share) fields.push([key, value()]);
  };
  for (const key of textFields) maybe(0.4, key, () => text(random));
  for (const key of ['id', 'trace_id']) maybe(0.4, key, () => text(random));
  for (const key of amounts) maybe(0.3, key, () => number(random));
  maybe(0.2, 'weight', () => pick(random, weights));
  for (const key of ['cold_start', 'cache_hit', 'partial']) {
    maybe(0.3, key, () => pick(random, ['true', 'false', 'true', 'false', 'null']));
  }
  maybe(0.4, 'status', () => pick(random, ['"ok"', '"error"', '"timeout"', '"cancelled"', 'null']));
  maybe(0.5, 'total_ms', () => number(random));
  maybe(0.9, 'stages_ms', () => stages(random));
  maybe(0.15, 'milestones_ms', () => milestones(random));
  maybe(0.15, 'itl_ms', () => gaps(random));
  maybe(0.3, `x_${Math.floor(random() * 9)}`, () => pick(random, unknowns));
  maybe(0.1, 'größe', () => pick(random, unknowns));
  maybe(0.05, pick(random, ['model', 'ts', 'stages_ms', 'total_ms', 'version']), () =>
    pick(random, ['7', '"7"', 'null', '{}', number(random)]),
  );
  maybe(0.05, 'total_ms', () => pick(random, oddTexts));
  maybe(0.03, '__proto__', () => '{"model":"evil","polluted":true}');
  if (random() < 0.7) shuffle(fields, random);
  return object(fields, random);
}

const oddGaps = ['null', '{}', '7', '"1"', '[', '[1,]', '[,1]', '[1 2]', '{"1"}', '{"1":2,}'];
const oddCounts = ['{1:2}', '{"":1}', '{"1 ":1}', '{"1":1.5}', '{"1":-1}', '{"1":"1"}', '{"-0":1}'];

/** Gaps between tokens: none, some, more than there is room for at first; a few are wrong. */
function gaps(random: Random): string {
  if (random() < 0.03) return pick(random, [...oddGaps, ...oddCounts]);
  if (random() < 0.3) return gapCounts(random);
  const count = Math.floor(random() * (random() < 0.05 ? 600 : 8));
  const space = random() < 0.3 ? ' ' : '';
  const plain = () => (random() * 100).toFixed(Math.floor(random() * 4));
  const value = random() < 0.8 ? plain : () => number(random);
  const values = Array.from({ length: count }, value);
  if (random() < 0.03) values.push(pick(random, oddTexts));
  return `[${space}${values.join(`${space},${space}`)}${space}]`;
}

/** Counts by milliseconds: most in their order, some twice. */
function gapCounts(random: Random): string {
  const lengths = Array.from({ length: Math.floor(random() * 8) }, () =>
    (random() * 30).toFixed(Math.floor(random() * 2)),
  );
  if (random() < 0.8) lengths.sort((a, b) => Number(a) - Number(b));
  const space = random() < 0.3 ? ' ' : '';
  const count = () => (random() < 0.95 ? Math.floor(random() * 40) : number(random));
  const members = lengths.map((ms) => `"${ms}"${space}:${space}${count()}`);
  return `{${space}${members.join(`${space},${space}`)}${space}}`;
}

/** Milestones as a producer writes them: some are known by their names, one may be a stage too. */
function milestones(random: Random): string {
  const names = [
    'first_token',
    'headers',
    'time_to_headers',
    'ttft',
    'forward',
    'total',
    'h'.repeat(57),
  ];
  const fields = names
    .filter((_, i) => random() < (i < 2 ? 0.6 : 0.04))
    .map((name): [string, string] => [
      name,
      random() < 0.95 ? number(random) : pick(random, oddTexts),
    ]);
  return object(fields, random);
}

function timestamp(random: Random): string {
  const kind = random();
  const ms = Math.floor(random() * 1e10) + 1_780_000_000_000;
  if (kind < 0.6) return String(ms);
  if (kind < 0.7) return `${ms}.${Math.floor(random() * 1e4)}`;
  const date = new Date(ms).toISOString();
  if (kind < 0.8) return `"${date}"`;
  if (kind < 0.97) return `"${date.slice(0, 19)}.${Math.floor(random() * 1e7)}+05:30"`;
  const odd = ['"2026-02-30T00:00:00Z"', '"2026-11-21"', '"1999-12-31T23:59:59-00:01"', '1e12'];
  return pick(random, [
    ...odd,
    String(Math.floor(ms / 1000)),
    String(ms * 1000),
    '0',
    '4102444800000',
  ]);
}

function number(random: Random): string {
  const kind = random() * 1.02;
  if (kind < 0.3) return String(Math.floor(random() * 1000));
  if (kind < 0.6) return (random() * 100).toFixed(Math.floor(random() * 4));
  if (kind < 0.95) return String(random() * 10 ** Math.floor(random() * 9 - 6));
  return pick(random, random() < 0.93 ? numberTexts : oddTexts);
}

function stages(random: Random): string {
  const names = random() < 0.8 ? [...standardStages] : ['constructor', 'a.b:c/d-e_1', 'toString'];
  if (random() < 0.4) shuffle(names, random);
  const fields = names
    .filter(() => random() < 0.8)
    .map((name): [string, string] => [name, number(random)]);
  if (random() < 0.05) fields.push([pick(random, [...reserved, '', '1st', 'queue']), '1']);
  if (random() < 0.05) fields.push([`new${Math.floor(random() * 1000)}`, '1.5']);
  return object(fields, random);
}

function text(random: Random): string {
  const kind = random();
  const value = pick(random, kind < 0.005 ? reserved : kind < 0.03 ? escapedTexts : texts);
  return quoted(random() < 0.8 ? value || 'm' : value, random);
}

/** A JSON string; now and then with an escape where none is needed. */
function quoted(value: string, random: Random): string {
  if (random() < 0.995) return JSON.stringify(value);
  const escaped = [...value].map((char) =>
    char.length === 1 ? `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}` : char,
  );
  return `"${escaped.join('')}"`;
}

function object(fields: readonly (readonly [string, string])[], random: Random): string {
  const isSpaced = random() < 0.3;
  const space = () => (isSpaced ? pick(random, ['', ' ', '\n  ', '\t', '\r\n']) : '');
  const body = fields.map(
    ([key, value]) => `${space()}${quoted(key, random)}${space()}:${space()}${value}${space()}`,
  );
  return `{${body.join(',')}${space()}}`;
}

function pick<T>(random: Random, choices: readonly T[]): T {
  return choices[Math.floor(random() * choices.length)] as T;
}

function shuffle<T>(items: T[], random: Random): void {
  for (let i = items.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    [items[i], items[j]] = [items[j] as T, items[i] as T];
  }
}
