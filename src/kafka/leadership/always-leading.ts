import type { Leadership } from './leadership.ts';

/** Of a process that nobody stands by for. */
export const alwaysLeading: Leadership = {
  isLeading: () => true,
  problems: () => [],
  done: new Promise(() => undefined),
  stop: async () => undefined,
};
