import type { ConvertOptions } from '../file-format.ts';
import { requiredModel, requiredStart } from '../required-options.ts';

/** Model and start times for requests of a file that has neither. */
export interface BackToBack {
  readonly model: string;
  /** Returns the start of the next request, in whole milliseconds: the end of the one before. */
  start(totalMs: number): number;
}

/**
 * Starts requests one after another from `options.startMs`, each at the end of the one before, as the file
 * does not say when they ran. Rates over time are therefore not those of the test.
 *
 * @throws OperatorError where the model or the start is missing.
 */
export function backToBack(format: string, options: ConvertOptions): BackToBack {
  const model = requiredModel(format, options);
  let nextMs = requiredStart(format, options, 'the file has no times');
  return {
    model,
    start(totalMs) {
      const ms = Math.floor(nextMs);
      nextMs += totalMs;
      return ms;
    },
  };
}
