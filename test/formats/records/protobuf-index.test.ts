import { expect, test } from 'vitest';
import { parseProto } from '../../../src/formats/records/protobuf/parse-proto.ts';

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
      /^the message index [12] must mean one message, and is "?\w+"? where the entries of maps count, else "?Decoy"?: /,
    );
  },
);
