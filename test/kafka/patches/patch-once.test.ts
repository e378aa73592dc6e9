import { describe, expect, it } from 'vitest';
import { kafkajsInternals } from '../../../src/kafka/client/patch-kafkajs.ts';
import { endFetchLoops } from '../../../src/kafka/patches/end-fetch-loops.ts';
import { patchOnce } from '../../../src/kafka/patches/patch-once.ts';

function counterClass() {
  return class Counter {
    calls = 0;
    count() {
      this.calls++;
      return this.calls;
    }
  };
}

describe('patchOnce', () => {
  it('replaces a method once, for any number of calls, and returns the original', () => {
    const Counter = counterClass();
    const patch = () =>
      patchOnce(Counter, 'tenTimes', ['count'], ({ count }) => ({
        count(this: InstanceType<typeof Counter>) {
          return 10 * count.call(this);
        },
      }));
    patch();
    patch();
    expect([new Counter().count(), new Counter().count()]).toEqual([10, 10]);
  });

  it('fails where a method is missing: another version of kafkajs', () => {
    expect(() => endFetchLoops({ name: 'Runner', prototype: Object.create(null) })).toThrow(
      "BUG: kafkajs' Runner must have the method fetch, which endFetchLoops replaces",
    );
  });

  it('finds each class in the pinned version', () => {
    const { requests, ...classes } = kafkajsInternals();
    for (const [name, found] of Object.entries(classes)) {
      expect([name, typeof found]).toEqual([name, 'function']);
    }
    expect(requests.Metadata.versions).toContain('6');
  });
});
