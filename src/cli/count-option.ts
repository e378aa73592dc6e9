import { OperatorError } from '../base/operator-error.ts';

export interface CountOptionRule {
  readonly flag: string;
  readonly least: number;
  readonly most: number;
  /** @default {true} */
  readonly whole?: boolean;
}

/** Parses an option's number. @throws {OperatorError} if it is no number or out of range */
export function countOption(given: unknown, rule: CountOptionRule): number {
  const { flag, least, most, whole = true } = rule;
  const text = String(given).trim();
  const value = text === '' ? Number.NaN : Number(text);
  if (value >= least && value <= most && (!whole || Number.isInteger(value))) return value;
  const kind = whole ? 'a whole number' : 'a number';
  throw new OperatorError(
    'TAILMARK_USAGE',
    `Cannot run as ${flag} must be ${kind} from ${least} to ${most}: it is ${JSON.stringify(given)}`,
  );
}
