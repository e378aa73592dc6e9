import type { Leadership } from './leadership.ts';

/** Leadership of a process that has no standby. */
export const alwaysLeading: Leadership = {
  isLeading: () => true,
  problems: () => [],
  done: new Promise(() => undefined),
  stop: async () => undefined,
};
