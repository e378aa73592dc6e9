import type { ComparedTimes } from '../../../src/contract/compared-times.ts';
import { absolute, type Changes } from './url.ts';

/** The address of a comparison of two times. */
export function sidesOf({ a, b }: Pick<ComparedTimes, 'a' | 'b'>): Changes {
  const [before, during] = [absolute(a), absolute(b)];
  return { 'a.from': before.from, 'a.to': before.to, 'b.from': during.from, 'b.to': during.to };
}
