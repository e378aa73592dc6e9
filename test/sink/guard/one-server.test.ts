import { expect, it } from 'vitest';
import { clockAheadMs } from '../../../src/sink/guard/one-server.ts';

it.each([
  ['read between request and response', 1_000, 1_020, 1_050, 0],
  ['read as the request was sent', 1_000, 1_000, 1_050, 0],
  ['read as the response came', 1_000, 1_050, 1_050, 0],
  ['earlier than the request', 10_000, 4_000, 10_050, 6_000],
  ['later than the response', 10_000, 16_050, 10_050, -6_000],
  ['within a long round trip', 10_000, 16_000, 40_000, 0],
])('a server clock that was %s', (_, requestMs, serverMs, responseMs, aheadMs) => {
  expect(clockAheadMs(requestMs, serverMs, responseMs)).toBe(aheadMs);
});
