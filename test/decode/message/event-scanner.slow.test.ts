import { describe, it } from 'vitest';
import { expectSameOfDamaged } from './damaged-messages.ts';

describe('the scanner against the general path', () => {
  it.each([1, 2, 3, 4, 5, 6, 7, 8])(
    'gives the same for 5,000 messages with bytes changed or lost (block %i)',
    (block) => expectSameOfDamaged(block * 5_000, (block + 1) * 5_000),
  );
});
