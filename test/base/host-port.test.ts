import { expect, it } from 'vitest';
import { hostPort } from '../../src/base/host-port.ts';

it.each([
  ['127.0.0.1:9092', '127.0.0.1', 9092],
  ['kafka-0.kafka:9092', 'kafka-0.kafka', 9092],
  ['[::1]:0', '::1', 0],
  ['[2001:DB8::7]:65535', '2001:DB8::7', 65_535],
  ['[::ffff:10.0.0.1]:9092', '::ffff:10.0.0.1', 9092],
])('%s is read as host and port', (text, host, port) => {
  expect(hostPort(text)).toEqual({ host, port });
});

it.each([
  'kafka',
  'kafka:',
  ':9092',
  '::1:9092',
  '[::1]',
  '[kafka]:9092',
  '[1:2]:9092',
  'kafka:65536',
  'a b:1',
])('%s is refused', (text) => {
  expect(hostPort(text)).toBeUndefined();
});
