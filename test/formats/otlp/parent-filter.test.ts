import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ParentFilter } from '../../../src/formats/otlp/parent-filter.ts';

const filter = new ParentFilter();

/** Asks about spans, each with the halves of its id and of its parent's; undefined: without one. */
function mayNest(spans: readonly (readonly [number, number | undefined])[]): boolean {
  filter.begin();
  for (const [id, parent] of spans) filter.add(id, parent ?? 0);
  return filter.mayNest();
}

const id = fc.integer({ min: 1, max: 1_000 });

test('a parent within is never missed, and of a few spans none is made up', () => {
  const spans = fc.array(fc.tuple(id, fc.option(id, { nil: undefined })), { maxLength: 200 });
  fc.assert(
    fc.property(spans, (given) => {
      const ids = new Set(given.map(([own]) => own));
      const isThere = given.some(([, parent]) => parent !== undefined && ids.has(parent));
      const said = mayNest(given);
      // Beyond 64 parents that look alike it asks for the exact search.
      expect(given.length > 64 ? said || !isThere : said === isThere).toBe(true);
    }),
  );
});

test('it grows with the message, and forgets the one before', () => {
  const far = Array.from({ length: 5_000 }, (_, i) => [i + 1, -1 - i] as const);
  expect(mayNest([...far, [6_000, 17]])).toBe(true);
  expect(mayNest([[7_000, 17]])).toBe(false);
});
