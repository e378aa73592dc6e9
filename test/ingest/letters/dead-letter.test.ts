import { describe, expect, it } from 'vitest';
import { limits } from '../../../src/base/limits.ts';
import {
  type DeadLetter,
  deadLetterBytes,
  deadLetterMessage,
  originOf,
} from '../../../src/ingest/letters/dead-letter.ts';

const letter: DeadLetter = {
  topic: 'inference.timings.v1',
  partition: 3,
  logId: 'c/t',
  offset: 12_345,
  index: 2,
  reason: 'bad_ts',
  detail: 'ts must be a time: it is "größe"',
  bytes: Buffer.from('{"ts":"größe"}'),
  originalBytes: Buffer.byteLength('{"ts":"größe"}'),
};

describe('the origin of a letter', () => {
  it('is read from its headers; a summary has none', () => {
    const headers = deadLetterMessage(letter).headers as Record<string, string>;
    const { topic, partition, logId, offset, index, reason } = letter;
    expect(originOf(headers)).toEqual({ topic, partition, logId, offset, index, reason });
    expect(originOf({ ...headers, 'tailmark-log-id': undefined as never })?.logId).toBe('');
    expect(originOf({ ...headers, 'tailmark-reason': 'unheard of' })).toBeUndefined();
    expect(originOf({ ...headers, 'tailmark-offset': '1e3' })).toBeUndefined();
    expect(originOf({ 'tailmark-topic': 't', 'tailmark-suppressed': '9' })).toBeUndefined();
  });
});

describe('deadLetterMessage', () => {
  it('is the event unchanged, with its source and the reason', () => {
    expect(deadLetterMessage(letter)).toEqual({
      key: 'inference.timings.v1/3/12345/2',
      value: letter.bytes,
      headers: {
        'tailmark-reason': 'bad_ts',
        'tailmark-detail': 'ts must be a time: it is "größe"',
        'tailmark-topic': 'inference.timings.v1',
        'tailmark-partition': '3',
        'tailmark-offset': '12345',
        'tailmark-index': '2',
        'tailmark-log-id': 'c/t',
      },
    });
  });

  it('without its payload has only where it was, why, and how long: no text of the event', () => {
    expect(deadLetterMessage(letter, false)).toEqual({
      key: 'inference.timings.v1/3/12345/2',
      value: null,
      headers: {
        'tailmark-reason': 'bad_ts',
        'tailmark-topic': 'inference.timings.v1',
        'tailmark-partition': '3',
        'tailmark-offset': '12345',
        'tailmark-index': '2',
        'tailmark-log-id': 'c/t',
        'tailmark-left-out-bytes': String(letter.originalBytes),
      },
    });
    const batch = {
      ...letter,
      reason: 'undecodable_batch',
      detail: 'checksum',
      bytes: null,
    } as const;
    const { headers } = deadLetterMessage(batch, false);
    // This detail is of the batch's header.
    expect(headers?.['tailmark-detail']).toBe('checksum');
    expect(headers).not.toHaveProperty('tailmark-left-out-bytes');
  });

  it('states the original length where it was truncated', () => {
    const { headers } = deadLetterMessage({ ...letter, originalBytes: 100_000 });
    expect(headers?.['tailmark-truncated-from-bytes']).toBe('100000');
  });

  it('of a tombstone has no value', () => {
    const tombstone = { ...letter, bytes: null, originalBytes: 0, reason: 'tombstone' } as const;
    const { value, headers } = deadLetterMessage(tombstone);
    expect(value).toBeNull();
    expect(headers).not.toHaveProperty('tailmark-truncated-from-bytes');
  });
});

describe('deadLetterBytes', () => {
  it('copies an event out of its message', () => {
    const message = Buffer.from('[{"a":1},{"b":2}]');
    const bytes = deadLetterBytes(message.subarray(9, 16));
    message.fill(0);
    expect(bytes.toString()).toBe('{"b":2}');
  });

  it('keeps at most 64 KiB', () => {
    const message = Buffer.alloc(limits.deadLetterBytes + 10, 'x');
    expect(deadLetterBytes(message)).toHaveLength(65_536);
    expect(deadLetterBytes(message.subarray(0, 65_535))).toHaveLength(65_535);
  });
});
