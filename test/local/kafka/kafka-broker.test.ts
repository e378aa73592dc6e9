import { describe, expect, it } from 'vitest';
import { clusterId } from '../../../src/local/kafka/kafka-broker.ts';

describe('clusterId', () => {
  it('never begins with a dash, whatever the first byte', () => {
    for (let first = 0; first < 256; first++) {
      const bytes = new Uint8Array(16).fill(0xff);
      bytes[0] = first;
      expect(clusterId(bytes)).toMatch(/^[A-Za-z0-9][A-Za-z0-9_-]{21}$/);
    }
  });

  it('keeps the other bits', () => {
    const bytes = Uint8Array.from({ length: 16 }, (_, i) => i * 16 + 5);
    expect([...Buffer.from(clusterId(bytes), 'base64url')]).toEqual([...bytes]);
  });
});
