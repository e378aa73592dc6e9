import type { Config } from '../config/schema.ts';

/** The `detect` block, and what of other blocks goes into events. */
export type DetectOptions = Config['detect'] & {
  readonly runbookUrl?: string | undefined;
};
