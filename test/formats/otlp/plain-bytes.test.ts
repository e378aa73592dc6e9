import { expect, it } from 'vitest';
import { plainBytesEnd } from '../../../src/formats/otlp/plain-bytes.ts';

it.each([
  ['of no bytes', [0x00], 2],
  ['of one byte', [0x01, 0xff], 3],
  ['of the longest with a short length', [0x7f], 129],
  ['of the shortest with a long length', [0x80, 0x01], 131],
  ['of the longest that writers write', [0xff, 0x7f], 3 + 16_383],
  ['of a longer one', [0x80, 0x80, 0x01], -1],
  ['that ends within its length', [0x80], -1],
  ['that is not there', [], -1],
])('the end of a value %s is found', (_, bytes, expected) => {
  expect(plainBytesEnd(Buffer.from([0x4a, ...bytes]), 1)).toBe(expected);
});
