import { OperatorError } from '../base/operator-error.ts';
import type { ConvertOptions } from './file-format.ts';

/** Returns `--start`. @param why the format needs it. @throws OperatorError where it is absent. */
export function requiredStart(format: string, { startMs }: ConvertOptions, why: string): number {
  if (startMs !== undefined) return startMs;
  throw absent(
    format,
    `--start must say when the first request began, as ${why}`,
    '--start 2026-11-25T17:00:00Z',
  );
}

/** Returns `--model`. @throws OperatorError where it is absent. */
export function requiredModel(format: string, { model = '' }: ConvertOptions): string {
  if (model !== '') return model;
  throw absent(format, '--model must name the model, which the file does not', '--model NAME');
}

function absent(format: string, rule: string, flag: string): OperatorError {
  return new OperatorError('TAILMARK_USAGE', `Cannot convert ${format} as ${rule}: it is absent`, {
    hint: `Add ${flag}.`,
  });
}
