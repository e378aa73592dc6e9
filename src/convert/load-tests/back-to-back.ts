import { type ErrorCode, OperatorError } from '../../base/operator-error.ts';
import type { ConvertOptions } from '../file-format.ts';

const errorCode: ErrorCode = 'TAILMARK_USAGE';

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
  const { model, startMs } = options;
  if (model === undefined || model === '') {
    throw new OperatorError(
      errorCode,
      `Cannot convert ${format} as --model must name the model, which the file does not: it is absent`,
      { hint: 'Add --model NAME.' },
    );
  }
  if (startMs === undefined) {
    throw new OperatorError(
      errorCode,
      `Cannot convert ${format} as --start must say when the test began, as the file has no times: it is absent`,
      { hint: 'Add --start TIME, such as --start 2026-11-25T17:00:00Z.' },
    );
  }
  let nextMs = startMs;
  return {
    model,
    start(totalMs) {
      const ms = Math.floor(nextMs);
      nextMs += totalMs;
      return ms;
    },
  };
}
