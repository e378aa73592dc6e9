import type { ConvertOptions } from '../file-format.ts';
import { requiredStart } from '../required-options.ts';

/** Start times for requests of a file that has none. */
export interface BackToBack {
  /** Returns the start of the next request, in whole milliseconds: the end of the one before. */
  start(totalMs: number): number;
  /** Begins a run at the end of what was before; its requests start this many milliseconds after it began. */
  run(): (sinceMs: number, totalMs: number) => number;
}

/**
 * Starts requests one after another from `options.startMs`, each at the end of the one before, as the file
 * does not say when they ran. Rates over time are therefore not those of the test.
 *
 * @throws OperatorError where the start is missing.
 */
export function backToBack(format: string, options: ConvertOptions): BackToBack {
  let nextMs = requiredStart(format, options, 'the file has no times');
  return {
    start(totalMs) {
      const ms = Math.floor(nextMs);
      nextMs += totalMs;
      return ms;
    },
    run() {
      const beginMs = nextMs;
      return (sinceMs, totalMs) => {
        nextMs = Math.max(nextMs, beginMs + sinceMs + totalMs);
        return Math.floor(beginMs + sinceMs);
      };
    },
  };
}
