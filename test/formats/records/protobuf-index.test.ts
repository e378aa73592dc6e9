import protobuf from 'protobufjs';
import { expect, test } from 'vitest';
import { Interner } from '../../../src/decode/interner.ts';
import { parseProto } from '../../../src/formats/records/protobuf/parse-proto.ts';
import { planOf } from '../../../src/topics/format-plan.ts';
import { openDecoder } from '../../../src/topics/open-decoder.ts';
import { bounds } from '../../decode/outcomes.ts';
import { schemasOf } from './decode-records.ts';

const file = (body: string) => parseProto(`syntax = "proto3"; package x; message Rank { ${body} }`);
const MAP = 'map<string, string> labels = 1;';
const TIMING = 'message Timing { double total_ms = 1; }';
const DECOY = 'message Decoy { double total_ms = 1; }';

test.each([
  ['without a map', `${TIMING} ${DECOY}`, 0, 'Timing'],
  ['without a map, the second', `${TIMING} ${DECOY}`, 1, 'Decoy'],
  ['with a map behind both', `${TIMING} ${DECOY} ${MAP}`, 1, 'Decoy'],
  ['the first, which no entry can be', `${MAP} ${TIMING} ${DECOY}`, 0, 'Timing'],
  ['the only one, by its text', `${MAP} ${TIMING}`, 0, 'Timing'],
  ['the only one, by its descriptor', `${MAP} ${TIMING}`, 1, 'Timing'],
  ['the last, by its descriptor', `${MAP} ${TIMING} ${DECOY}`, 2, 'Decoy'],
])('an index of nested messages is one message: %s', (_what, body, index, name) => {
  expect(file(body).at([0, index]).name).toBe(name);
});

test.each([`${MAP} ${TIMING} ${DECOY}`, `${TIMING} ${MAP} message Other {} ${DECOY}`])(
  'an index that clients count differently is no message: %s',
  (body) => {
    const index = body.startsWith(MAP) ? 1 : 2;
    expect(() => file(body).at([0, index])).toThrow(
      /^the message index 0\.[12] must mean one message, and is "Rank\.\w+" where the entries of maps count, else "Rank\.Decoy": name it by the setting message of the topic$/,
    );
  },
);

test.each([
  ['Rank.Timing', 'Timing'],
  ['x.Rank.Timing', 'Timing'],
  ['Rank.Decoy', 'Decoy'],
])('a name says which message such an index is: %s', (name, found) => {
  expect(file(`${MAP} ${TIMING} ${DECOY}`).at([0, 1], name).name).toBe(found);
});

test('a name of another message does not, and where the index is one message it is not asked', () => {
  const ambiguous = file(`${MAP} ${TIMING} ${DECOY}`);
  expect(() => ambiguous.at([0, 1], 'Rank')).toThrow(
    /: the setting message names neither: it is "Rank"$/,
  );
  expect(() => ambiguous.at([0, 1], 'Nope')).toThrow(/^message "Nope" must be in the file/);
  expect(ambiguous.at([0, 0], 'Rank.Decoy').name).toBe('Timing');
});

test('serializers count each level in the same way', () => {
  // By its text 0.0.0 is the innermost message; by its descriptor 0.0 is an entry. Mixed, 0.1.0 would be
  // one more.
  const inner = `${MAP} message Mid { ${MAP} message Deep {} }`;
  expect(file(inner).at([0, 0, 0]).name).toBe('Deep');
  expect(file(inner).at([0, 1, 1]).name).toBe('Deep');
  expect(() => file(inner).at([0, 1, 0])).toThrow(/^the message at index 0\.1\.0 must be/);
});

const WHO = 'int64 ts = 1; string model = 2;';
const who = { ts: 1_790_000_000_000, model: 'm' };

/** Total of a record at the index that may be either message, or why it is rejected. */
function outcome(
  messages: string,
  [name, fields]: readonly [name: string, fields: object],
  message?: string,
): number | string | undefined {
  const text = `syntax = "proto3"; package x; message Rank { ${MAP} ${messages} }`;
  const type = protobuf.parse(text, { keepCase: true }).root.lookupType(`x.Rank.${name}`);
  const record = Buffer.from([
    0,
    0,
    0,
    0,
    7,
    4,
    0,
    2,
    ...type.encode({ ...who, ...fields }).finish(),
  ]);
  const schemas = schemasOf({ 7: { type: 'PROTOBUF', text, references: [] } });
  const names = { stages: new Interner(9), values: new Interner(9) };
  const decoder = openDecoder(
    planOf({ format: 'protobuf', message }),
    { ...names, maxMessageBytes: 999, ...bounds },
    schemas,
  );
  const outcomes: (number | string)[] = [];
  decoder.decode(record, {
    event: ({ totalMs }) => outcomes.push(totalMs),
    reject: (_index, reason, detail) => outcomes.push(`${reason}: ${detail}`),
    skip: () => undefined,
  });
  return outcomes.length === 1 ? outcomes[0] : undefined;
}

const doubles = `message Timing { ${WHO} double total_ms = 3; }
  message Decoy { ${WHO} double other = 3; double total_ms = 4; }`;
const integers = doubles.replaceAll('double', 'int64');
const alike = `message Timing { ${WHO} double total_ms = 3; } message Decoy { ${WHO} double total_ms = 3; }`;

test.each([
  ['a total that one of them has', doubles, ['Timing', { total_ms: 12.5 }], 12.5],
  ['a field that one of them lacks', doubles, ['Decoy', { total_ms: 7 }], 7],
  ['all fields of the larger one', doubles, ['Decoy', { other: 12.5, total_ms: 7 }], 7],
  ['a field that one of them lacks, in whole numbers', integers, ['Decoy', { total_ms: 7 }], 7],
] as const)('the bytes tell which message it is: %s', (_what, messages, record, total) => {
  expect(outcome(messages, record)).toBe(total);
});

const unclear =
  'unknown_schema: Schema 7 cannot be used: the message index 0.1 must mean one message, and is ' +
  '"Rank.Timing" where the entries of maps count, else "Rank.Decoy": name it by the setting message of the topic';

test.each([
  ['both have the total', alike, ['Timing', { total_ms: 12.5 }]],
  ['a total of 0 in whole numbers may be meant', integers, ['Timing', { total_ms: 12 }]],
  ['neither has a total', doubles, ['Decoy', {}]],
] as const)('the bytes do not tell, and the record is rejected: %s', (_what, messages, record) => {
  expect(outcome(messages, record)?.toString().slice(0, unclear.length)).toBe(unclear);
});

test.each([
  ['Rank.Timing', 12.5],
  ['Rank.Decoy', 0],
])('the setting of a topic is asked before the bytes: %s', (name, total) => {
  expect(outcome(doubles, ['Timing', { total_ms: 12.5 }], name)).toBe(total);
});
