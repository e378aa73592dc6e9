import { z } from 'zod';
import { closest } from '../../../config/closest.ts';
import { describeType } from '../../../config/describe-type.ts';
import { keyOf, type SchemaNode } from '../../../config/input-schema.ts';
import { Problem } from '../../http/problem.ts';

type Issue = z.core.$ZodIssue;
type Path = readonly PropertyKey[];

/** Longest value that is shown, in characters. */
const longestShown = 80;
/** Issues that one answer names. */
const mostIssues = 5;
/** Levels of a body in which a schema may have a record. */
const deepest = 8;

/**
 * Checks parameters or a body.
 *
 * @param as.what one of them is called, and where it may stand
 * @throws Problem 400 that names each wrong one, what was given and what is accepted.
 */
export function checked<S extends z.ZodType>(
  schema: S,
  given: unknown,
  as: { readonly what: 'parameter' | 'field'; readonly where?: string },
): z.output<S> {
  const parsed = schema.safeParse(given);
  const passedOver = passedOverIssues(given);
  if (parsed.success && passedOver.length === 0) return parsed.data;
  const root = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Node;
  const issues = passedOver.length > 0 ? passedOver : (parsed.error?.issues ?? []);
  const sentences = issues.flatMap((issue) => sentencesOf(issue, { root, given, ...as }));
  throw new Problem(400, sentences.slice(0, mostIssues).join(' '));
}

/** Keys `__proto__`: a zod record passes over them, and what they say would be dropped. */
function passedOverIssues(given: unknown, path: Path = []): Issue[] {
  if (typeof given !== 'object' || given === null || path.length > deepest) return [];
  const of = { path: [...path], message: '' };
  const own: Issue[] = Object.hasOwn(given, '__proto__')
    ? [{ code: 'unrecognized_keys', keys: ['__proto__'], ...of }]
    : [];
  const inside = Object.entries(given).flatMap(([key, value]) =>
    passedOverIssues(value, [...path, Array.isArray(given) ? Number(key) : key]),
  );
  return [...own, ...inside];
}

/** A schema, with the names and the values of a record. */
type Node = SchemaNode & {
  readonly additionalProperties?: SchemaNode | boolean;
  readonly propertyNames?: SchemaNode;
};

interface Place {
  readonly root: Node;
  readonly given: unknown;
  readonly what: string;
  readonly where?: string;
}

function sentencesOf(issue: Issue, { root, given, what, where = '' }: Place): string[] {
  const { path } = issue;
  const node = nodeAt(root, path);
  if (issue.code === 'unrecognized_keys') {
    const known = [...Object.keys(node?.properties ?? {}), ...(node?.propertyNames?.enum ?? [])];
    return issue.keys.map((key) => {
      return `${cut(keyOf([...path, key]))} is no ${what} of this request${namesHint(key, known.map(String))}`;
    });
  }
  const name = path.length === 0 ? `The ${what === 'field' ? 'body' : what}` : keyOf(path);
  const value = valueAt(given, path);
  if (value === undefined && issue.code !== 'custom') {
    const type = node === undefined ? 'text' : describeType(node);
    return [`${name} must be given${where}${type === 'text' ? '' : `: ${type}`}.`];
  }
  const isWord = typeof value === 'string' && Number.isNaN(Number(value));
  const near = isWord ? closest(value, (node?.enum ?? []).map(String)) : undefined;
  const hint = near === undefined ? '' : ` Did you mean ${near}?`;
  return [`${name} must ${rule(issue, node)}; it is ${shown(value)}.${hint}`];
}

function rule(issue: Issue, node: Node | undefined): string {
  if (issue.code === 'custom') return issue.message.replace(/^must /, '');
  if (issue.code === 'too_small' && issue.origin === 'string') {
    return issue.minimum > 1 ? `have at least ${issue.minimum} characters` : 'not be empty';
  }
  if (issue.code === 'too_big' && issue.origin === 'string') {
    return `have at most ${issue.maximum} characters`;
  }
  if (issue.code === 'too_big' && issue.origin === 'array') {
    return `have at most ${issue.maximum} entries`;
  }
  return `be ${node === undefined ? 'of another form' : describeType(node)}`;
}

function namesHint(name: string, known: readonly string[]): string {
  if (known.length === 0) return ', which takes none.';
  const near = closest(name, known);
  return near === undefined ? `. Known: ${known.join(', ')}.` : `. Did you mean ${near}?`;
}

function nodeAt(root: Node, path: Path): Node | undefined {
  let node: Node | undefined = root;
  for (const step of path) {
    if (typeof step === 'number') node = node?.items;
    else if (Object.hasOwn(node?.properties ?? {}, step)) node = node?.properties?.[String(step)];
    else {
      const values: Node['additionalProperties'] = node?.additionalProperties;
      node = typeof values === 'object' ? values : undefined;
    }
  }
  return node;
}

function valueAt(given: unknown, path: Path): unknown {
  return path.reduce<unknown>((value, step) => {
    if (typeof value !== 'object' || value === null) return undefined;
    return Object.hasOwn(value, step) ? Reflect.get(value, step) : undefined;
  }, given);
}

function shown(value: unknown): string {
  if (value === undefined) return 'missing';
  if (Array.isArray(value) && value.length === 0) return 'an empty list';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' && value !== null ? 'a map' : cut(JSON.stringify(value));
}

function cut(text: string): string {
  return text.length > longestShown ? `${text.slice(0, longestShown)}…` : text;
}
