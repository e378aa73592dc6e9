import { expect, it } from 'vitest';
import { FairQueue } from '../../../../src/roles/serve/http/fair-queue.ts';

const all = () => true;
const itemsOf = (queue: FairQueue<string>) =>
  Array.from({ length: queue.size }, () => queue.next(all)?.item);

it('gives turns to clients, however much one of them waits for', () => {
  const queue = new FairQueue<string>();
  for (const item of ['a1', 'a2', 'a3', 'a4', 'b1', 'c1', 'c2']) queue.add(item.slice(0, 1), item);
  expect(itemsOf(queue)).toEqual(['a1', 'b1', 'c1', 'a2', 'c2', 'a3', 'a4']);
  expect(queue.next(all)).toBe(undefined);
});

it('lets a client wait for its turn until it may have one', () => {
  const queue = new FairQueue<string>();
  for (const item of ['a1', 'a2', 'b1']) queue.add(item.slice(0, 1), item);
  expect(queue.next((client) => client !== 'a')).toEqual({ client: 'b', item: 'b1' });
  expect(queue.next((client) => client !== 'a')).toBe(undefined);
  expect(itemsOf(queue)).toEqual(['a1', 'a2']);
});

it('knows who waits for the most', () => {
  const queue = new FairQueue<string>();
  expect(queue.longest()).toBe(undefined);
  for (const item of ['a1', 'b1', 'b2', 'b3', 'c1', 'c2']) queue.add(item.slice(0, 1), item);
  expect(queue.longest()).toEqual({ client: 'b', newest: 'b3' });
  queue.remove('b', 'b1');
  queue.remove('b', 'b2');
  queue.remove('b', 'never there');
  expect([queue.size, queue.sizeOf('b'), queue.sizeOf('c')]).toEqual([4, 1, 2]);
  expect(queue.longest()).toEqual({ client: 'c', newest: 'c2' });
});
