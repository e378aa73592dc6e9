import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { packMessages } from '../../../bench/traffic/pack-messages.ts';
import { MessagePacker } from '../../../src/generate/publish/message-packer.ts';
import { generateTraffic } from '../../../src/generate/traffic.ts';

describe('MessagePacker', () => {
  it('completes a message per key, and flushes the others in the order of their beginning', () => {
    const packer = new MessagePacker(2);
    expect(packer.add('a', '1')).toBeUndefined();
    expect(packer.add(undefined, '2')).toBeUndefined();
    expect(packer.add('b', '3')).toBeUndefined();
    expect(packer.add('a', '4')).toEqual({ key: 'a', value: '1\n4' });
    expect(packer.add('a', '5')).toBeUndefined();
    expect(packer.waitingCount).toBe(3);
    expect(packer.flush()).toEqual([
      { value: '2' },
      { key: 'b', value: '3' },
      { key: 'a', value: '5' },
    ]);
    expect(packer.waitingCount).toBe(0);
    expect(packer.flush()).toEqual([]);
  });

  it('neither loses, doubles nor reorders a line within its key', () => {
    const lines = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 60 });
    fc.assert(
      fc.property(lines, fc.integer({ min: 1, max: 7 }), (keys, perMessage) => {
        const packer = new MessagePacker(perMessage);
        const messages = keys.flatMap((key, n) => packer.add(key, `${n}`) ?? []);
        const sizes = messages.map(({ value }) => String(value).split('\n').length);
        expect(sizes.filter((size) => size !== perMessage)).toEqual([]);
        messages.push(...packer.flush());
        for (const key of ['a', 'b', 'c']) {
          const got = messages
            .filter((message) => message.key === key)
            .flatMap(({ value }) => String(value).split('\n'));
          expect(got).toEqual(keys.flatMap((k, n) => (k === key ? [`${n}`] : [])));
        }
      }),
    );
  });
});

describe('packMessages', () => {
  it('packs every event of a run, keyed by model and host', () => {
    const options = { seed: 1, startMs: 1_789_000_000_000, durationMs: 5_000, ratePerSecond: 100 };
    const lines = [...generateTraffic(options)].map((event) => JSON.stringify(event));
    const messages = [...packMessages(generateTraffic(options), 10)];
    const packed = messages.flatMap(({ value }) => String(value).split('\n'));
    expect([...packed].sort()).toEqual([...lines].sort());
    expect(messages.length).toBeLessThan(lines.length / 4);
    for (const { key, value } of messages) {
      const { model, host } = JSON.parse(String(value).split('\n')[0] as string);
      expect(key).toBe(`${model}|${host}`);
    }
  });
});
