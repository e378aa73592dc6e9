import { beforeEach, inject } from 'vitest';
import type { StackEndpoints } from './global-setup.ts';

/**
 * The Kafka and ClickHouse of this run; call it inside `describe` or at the top of a file. Where
 * the machine has neither Docker nor what the local stack needs, each test is skipped with the
 * reason. The endpoints are read inside tests and hooks.
 */
export function useStack(): StackEndpoints {
  const stack = inject('stack');
  if (stack !== null) return stack;
  const why = inject('stackMissing');
  beforeEach((context) => context.skip(why));
  return { kind: 'local', brokers: [], clickhouseUrl: '' };
}
