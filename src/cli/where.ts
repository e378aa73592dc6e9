import { attributeKey, isAttributeName } from '../base/dimensions.ts';
import { OperatorError } from '../base/operator-error.ts';
import type { Config } from '../config/schema.ts';
import { attributePair } from '../series/attributes.ts';

/** Collects the values of a flag that may be repeated. */
export const collected = (value: string, before: string[] = []): string[] => [...before, value];

/** Words of the flag in `--help`. */
export const whereFlag = ['--where <attributes.NAME=VALUE>', 'repeatable'] as const;

/**
 * Pairs of own dimensions that `--where` names: `attributes.adapter=lora-7`.
 *
 * @throws OperatorError for another form, and for a dimension that no series has.
 */
export function wherePairs(where: unknown, { windows }: Pick<Config, 'windows'>): string[] {
  const given = Array.isArray(where) ? where.map(String) : [];
  return given.map((text) => {
    const at = text.indexOf('=');
    const name = text.slice(0, Math.max(0, at));
    if (!isAttributeName(name) || at === text.length - 1) {
      throw usage(`--where must be attributes.NAME=VALUE: it is ${JSON.stringify(text)}`);
    }
    if (!windows.dimensions.includes(name)) {
      throw usage(
        `windows.dimensions must have ${name}: it is ${JSON.stringify(windows.dimensions)}`,
      );
    }
    return attributePair(attributeKey(name), text.slice(at + 1));
  });
}

function usage(rule: string): OperatorError {
  return new OperatorError('TAILMARK_USAGE', `Cannot choose requests as ${rule}`, {
    hint: 'Write --where attributes.adapter=lora-7.',
  });
}
