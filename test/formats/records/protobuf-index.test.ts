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

test('the setting of a topic reaches its records', () => {
  const text = `syntax = "proto3"; package x; message Rank { ${MAP} message Timing { int64 ts = 1; string model = 2; double total_ms = 3; } message Decoy { int64 ts = 1; string model = 2; double other = 3; double total_ms = 4; } }`;
  const schemas = schemasOf({ 7: { type: 'PROTOBUF', text, references: [] } });
  const body = [
    ...Buffer.from('089bc9d485a034', 'hex'),
    0x12,
    1,
    0x6d,
    0x19,
    0,
    0,
    0,
    0,
    0,
    0,
    41,
    64,
  ];
  const record = Buffer.from([0, 0, 0, 0, 7, 4, 0, 2, ...body]);
  const outcomeBy = (message?: string) => {
    const given = { format: 'protobuf', message } as const;
    const options = {
      stages: new Interner(9),
      values: new Interner(9),
      maxMessageBytes: 999,
      ...bounds,
    };
    const totals: (number | string)[] = [];
    openDecoder(planOf(given), options, schemas).decode(record, {
      event: ({ totalMs }) => totals.push(totalMs),
      reject: (_index, reason) => totals.push(reason),
      skip: () => undefined,
    });
    return totals;
  };
  expect(outcomeBy()).toEqual(['unknown_schema']);
  expect(outcomeBy('Rank.Timing')).toEqual([12.5]);
  expect(outcomeBy('Rank.Decoy')).toEqual([0]);
});
