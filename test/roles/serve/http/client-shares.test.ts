import { expect, it } from 'vitest';
import { ClientShares } from '../../../../src/roles/serve/http/client-shares.ts';

const most = 3;

it('leaves a client that is alone all that one may have', () => {
  const shares = new ClientShares(4);
  shares.add('a', 30_000, 0);
  expect(shares.placesOf('a', most, 9_000, 0)).toBe(3);
});

it('leaves a client that has used more than its part that part, and the others all', () => {
  const shares = new ClientShares(4);
  for (const client of ['a', 'b']) shares.add(client, 0, 0);
  shares.add('a', 20_000, 0);
  expect(shares.placesOf('a', most, 0, 0)).toBe(3);
  expect(shares.placesOf('a', most, 1, 0)).toBe(2);
  for (const client of ['c', 'd', 'e', 'f', 'g', 'h']) shares.add(client, 500, 0);
  expect(shares.placesOf('a', most, 0, 0)).toBe(1);
  expect(shares.placesOf('c', most, 0, 0)).toBe(3);
});

it('forgets what was used, and clients that ask no more', () => {
  const shares = new ClientShares(4);
  for (const client of ['b', 'c', 'd', 'a']) shares.add(client, client === 'a' ? 20_000 : 0, 0);
  // Its part is 10,000 ms, and 20,000 / e is less.
  expect(shares.placesOf('a', most, 0, 6_000)).toBe(1);
  expect(shares.placesOf('a', most, 0, 10_000)).toBe(3);
  shares.add('a', 30_000, 11_000);
  expect(shares.placesOf('a', most, 0, 11_000)).toBe(3);
});
