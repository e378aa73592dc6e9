import { expect, it } from 'vitest';
import { Interner } from '../../src/decode/interner.ts';
import { StageTags } from '../../src/decode/stage-tags.ts';

it('tags are those of the names that an interner holds, also after it was cleared', () => {
  const stages = new Interner(1_000);
  const tags = new StageTags(stages, (name) => (name.startsWith('a') ? 2 : 0));
  const [b, a] = [stages.internText('b'), stages.internText('a')];
  expect(tags.hasAny()).toBe(true);
  expect([tags.of(b), tags.of(a)]).toEqual([0, 2]);

  stages.clear();
  expect(stages.internText('c')).toBe(b);
  expect(tags.hasAny()).toBe(false);
  expect(tags.of(b)).toBe(0);

  const ids = Array.from({ length: 200 }, (_, n) => stages.internText(`${n % 2 ? 'a' : 'b'}${n}`));
  expect(tags.hasAny()).toBe(true);
  expect(ids.map((id) => tags.of(id))).toEqual(ids.map((_, n) => (n % 2 ? 2 : 0)));
});
