import { attributeKey, isAttributeName } from '../base/dimensions.ts';
import { OperatorError } from '../base/operator-error.ts';
import { attributePair } from '../series/attributes.ts';

/** Collects the values of a flag that may be repeated. */
export const collected = (value: string, before: string[] = []): string[] => [...before, value];

/** Words of the flag in `--help`. */
export const whereFlag = [
  '--where <attributes.NAME=VALUE>',
  'repeatable; NAME= are those without',
] as const;

/**
 * Pairs of own dimensions that `--where` names: `attributes.adapter=lora-7`. Also of a dimension that is no longer
 * configured, as what is stored of it stays.
 *
 * @throws OperatorError for another form.
 */
export function wherePairs(where: unknown): string[] {
  const given = Array.isArray(where) ? where.map(String) : [];
  return given.map((text) => {
    const at = text.indexOf('=');
    const name = text.slice(0, Math.max(0, at));
    if (isAttributeName(name)) return attributePair(attributeKey(name), text.slice(at + 1));
    throw new OperatorError(
      'TAILMARK_USAGE',
      `Cannot choose requests as --where must be attributes.NAME=VALUE: it is ${JSON.stringify(text)}`,
      { hint: 'Write --where attributes.adapter=lora-7.' },
    );
  });
}
