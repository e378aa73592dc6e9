import type { z } from 'zod';
import { closest } from '../../config/closest.ts';
import { ConfigError, type ConfigProblem } from '../../config/config-error.ts';
import type { MappingFile } from '../../config/read/presets.ts';
import { compileSpanRules, type SpanRules, spanRulesSchema } from '../spans/rules/span-rules.ts';
import { type Mapping, mappingSchema } from './mapping-schema.ts';

type Issue = NonNullable<ReturnType<typeof mappingSchema.safeParse>['error']>['issues'][number];

/**
 * Checks a mapping as its file has it.
 *
 * @param name of the file, for messages.
 * @throws ConfigError TAILMARK_CONFIG_INVALID with every problem of the mapping and its place.
 */
export function checkedMapping(file: MappingFile, name: string): Mapping {
  return checked(mappingSchema, file, name);
}

/** Checks rules of spans as their file has them, as `checkedMapping`. */
export function checkedSpanRules(file: MappingFile, name: string): SpanRules {
  return compileSpanRules(checked(spanRulesSchema, file, name));
}

function checked<Schema extends typeof mappingSchema | typeof spanRulesSchema>(
  schema: Schema,
  file: MappingFile,
  name: string,
): z.output<Schema> {
  const result = schema.safeParse(file.value);
  const keys = Object.keys(schema.shape);
  // A file that is no YAML says nothing of its keys.
  const isRead = file.problems.length === 0;
  const issues =
    result.success || !isRead ? [] : result.error.issues.flatMap((issue) => innermost(issue, keys));
  const problems: ConfigProblem[] = [
    ...file.problems.map(({ where, key, message }) => ({ where, key, message })),
    ...issues.map(({ path, message }) => {
      const key = path.map(String).join('.');
      const text = `${key === '' ? 'the mapping' : key} ${message}`;
      return { where: file.where(path), key, message: text };
    }),
  ];
  if (result.success && problems.length === 0) return result.data as z.output<Schema>;
  const hint = 'docs/reference/mapping.md has every key.';
  throw new ConfigError(problems, { what: `the mapping ${name}`, hint });
}

interface Problem {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

/** The problems of the form that was meant where several are allowed: the one that fits best. */
function innermost(
  issue: Issue,
  keys: readonly string[],
  above: readonly PropertyKey[] = [],
): readonly Problem[] {
  const path = [...above, ...issue.path];
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => {
      const meant = above.length + issue.path.length === 0 ? closest(key, keys) : undefined;
      const hint = meant === undefined ? '' : `: did you mean ${meant}?`;
      return { path: [...path, key], message: `is not a key of a mapping here${hint}` };
    });
  }
  if (issue.code !== 'invalid_union') return [{ path, message: plain(issue) }];
  const forms = issue.errors
    .filter((form) => !form.some((each) => each.path.length === 0 && each.code === 'invalid_type'))
    .map((form) => form.flatMap((each) => innermost(each, keys, path)));
  const best = forms.sort((a, b) => a.length - b.length)[0];
  return best === undefined ? [{ path, message: plain(issue) }] : best;
}

/** zod's own words, where the schema has none, as a rule. */
function plain({ message }: Issue): string {
  if (message.startsWith('must')) return message;
  if (message.includes('received undefined')) return 'must be given';
  const expected = /expected (\w+)/.exec(message)?.[1] ?? '';
  const names: Readonly<Record<string, string>> = {
    array: 'a list',
    object: 'a map',
    record: 'a map',
  };
  return `must be ${names[expected] ?? 'of another form'}`;
}
