import type { z } from 'zod';
import { closest } from '../closest.ts';
import type { ConfigProblem } from '../config-error.ts';
import { describeType } from '../describe-type.ts';
import {
  holdsSecret,
  inputSchema,
  isMapNode,
  keyOf,
  nodeAt,
  propertiesOf,
  type SchemaNode,
} from '../input-schema.ts';
import type { SettingTree } from '../read/setting-tree.ts';
import { maskText } from '../secrets/mask-secrets.ts';
import { mailForm } from '../setting-types.ts';

const longestShown = 80;

type Issue = z.core.$ZodIssue;
type Path = readonly PropertyKey[];

/** Explains a schema's issue in the operator's words: place, key, rule and value. */
export function explainIssue(issue: Issue, tree: SettingTree): readonly ConfigProblem[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => unknownKey(key, issue.path, tree));
  }
  const path = issue.path;
  const key = keyOf(path);
  const subject = `${key}${ofReceiver(path, tree)}`;
  const value = tree.at(path);
  const node = nodeAt(path);
  if (value === undefined && issue.code !== 'custom') {
    const what = node === undefined ? '' : ` (${describeType(node)})`;
    const message = `${subject} must be set${what}: it is missing`;
    return [{ where: tree.where(path, 'key'), key, message }];
  }
  const { found = `it is ${showValue(value === undefined ? node?.default : value, path)}` } =
    detailsOf(issue);
  const message = `${subject} must ${rule(issue, path, node)}: ${found}`;
  return [{ where: tree.where(path), key, message, hint: hintFor(issue, tree, value, node) }];
}

/** Details of a rule of our own. */
interface Details {
  /** The mistake, instead of the value: "address 169.254.0.1 is link-local". */
  readonly found?: string;
  readonly hint?: string;
}

function detailsOf(issue: Issue): Details {
  return issue.code === 'custom' ? ((issue.params ?? {}) as Details) : {};
}

/** " of receiver on-call": nobody counts the entries of a list. */
function ofReceiver(path: Path, tree: SettingTree): string {
  const [block, list, index, setting] = path;
  if (block !== 'alert' || list !== 'receivers' || setting === undefined || setting === 'name') {
    return '';
  }
  const name = tree.at([block, list, index as number, 'name']);
  return typeof name === 'string' && /^[\w-]{1,63}$/.test(name) ? ` of receiver ${name}` : '';
}

function rule(issue: Issue, path: Path, node: SchemaNode | undefined): string {
  if (issue.code === 'custom') return issue.message.replace(/^must /, '');
  if (issue.code === 'invalid_union') return `be one of ${variantsAt(path).join(', ')}`;
  if (issue.code === 'too_small' && issue.origin === 'array') return 'have at least one entry';
  if (issue.code === 'too_small' && issue.origin === 'string') {
    return issue.minimum > 1 ? `have at least ${issue.minimum} characters` : 'not be empty';
  }
  if (issue.code === 'too_big' && issue.origin === 'array') {
    return `have at most ${issue.maximum} entries`;
  }
  if (issue.code === 'too_big' && issue.origin === 'string') {
    return `have at most ${issue.maximum} characters`;
  }
  return `be ${node === undefined ? 'of another form' : describeType(node)}`;
}

function variantsAt(path: Path): string[] {
  const block = nodeAt(path.slice(0, -1));
  return (block?.oneOf ?? []).map((variant) => String(variant.properties?.type?.const));
}

function unknownKey(name: string, parent: Path, tree: SettingTree): ConfigProblem {
  const path = [...parent, name];
  const key = keyOf(path);
  const where = tree.where(path, 'key');
  const block = nodeAt(parent);
  if (block?.oneOf !== undefined && Object.hasOwn(propertiesOf(block), name)) {
    const type = tree.at([...parent, 'type']);
    const hint = `Take it out, or set ${keyOf(parent)}.type to the type that has it.`;
    return { where, key, message: `${key} is no key of type ${String(type)}`, hint };
  }
  return { where, key, message: `${key} is not a setting`, hint: suggestKey(name, parent, block) };
}

function suggestKey(name: string, parent: Path, block: SchemaNode | undefined): string | undefined {
  if (name === '<<') return 'YAML 1.2 has no merge keys: write the keys out.';
  if (/^x-/i.test(name)) {
    return 'Put the anchor (&name) where its value stands first, and *name where it stands again.';
  }
  const siblings = Object.keys(block === undefined ? {} : propertiesOf(block));
  const near = closest(name, siblings);
  if (near !== undefined) return `Did you mean ${near}?`;
  for (const [blockName, other] of Object.entries(propertiesOf(inputSchema()))) {
    if (blockName === parent[0] || !Object.hasOwn(propertiesOf(other), name)) continue;
    return `Did you mean ${blockName}.${name}? It belongs below ${blockName}.`;
  }
  return siblings.length === 0 ? undefined : `Known here: ${siblings.join(', ')}.`;
}

function hintFor(
  issue: Issue,
  tree: SettingTree,
  value: unknown,
  node: SchemaNode | undefined,
): string | undefined {
  const { path } = issue;
  const name = String(path.findLast((step) => typeof step !== 'number'));
  if (issue.code === 'custom') return detailsOf(issue).hint;
  const isScalar = typeof value === 'string' || typeof value === 'number';
  if (node?.type === 'array' && isScalar) return listHint(name, value, node);
  if (typeof value === 'string') {
    const other = blockThatReads(value, path);
    if (other !== undefined) return `${other} reads it: write the topic there.`;
    const near = closest(value, node?.enum?.map(String) ?? variantsAt(path));
    if (near !== undefined) return `Did you mean ${near}?`;
  }
  if (node?.duration !== undefined) {
    return typeof value === 'number'
      ? `Add a unit: ${name}: ${value}s, or ${value}ms.`
      : 'Write a number and one of ms, s, m, h, d, w: 500ms, 10s, 24h.';
  }
  if (node !== undefined && isMapNode(node)) return mapHint(name, value, node);
  if (node?.examplePort !== undefined) return placeHint(value, path, node.examplePort);
  if (node?.form === mailForm && typeof value === 'string') return mailHint(value);
  if ((node?.type === 'number' || node?.type === 'integer') && typeof value === 'string') {
    return /^\d+(\.\d+)?$/.test(value) ? `Take the quotes away: ${name}: ${value}.` : undefined;
  }
  if (node?.type === 'string' && (typeof value === 'number' || typeof value === 'boolean')) {
    return node.secret === true
      ? 'Put quotes around it.'
      : `Put quotes around it: "${tree.written(path) ?? value}".`;
  }
  return undefined;
}

/** Topics of requests and topics of spans look alike: the block that has a value which this one refuses. */
function blockThatReads(value: string, [block, ...below]: Path): string | undefined {
  const other = block === 'kafka' ? 'assemble' : block === 'assemble' ? 'kafka' : undefined;
  const node = other === undefined ? undefined : nodeAt([other, ...below]);
  return node?.enum?.includes(value) === true ? `${other}.${String(below[0])}` : undefined;
}

/** What holds secrets is quoted nowhere: a list that is no JSON is text. */
function listHint(name: string, value: string | number, node: SchemaNode): string {
  if (!holdsSecret(node)) return `Write a list: ${name}: [${value}].`;
  return `Write a list below \`${name}:\`, or in a variable a JSON list without a comma at its end.`;
}

function mapHint(name: string, value: unknown, node: SchemaNode): string {
  if (value === null) return `Write \`${name}: {}\` for its defaults, or take the line out.`;
  const keys = Object.keys(propertiesOf(node)).join(', ');
  return `Write its keys, indented, below \`${name}:\`${keys === '' ? '' : `: ${keys}`}.`;
}

/** The missing part of a `host:port`. */
function placeHint(value: unknown, path: Path, port: number): string | undefined {
  if (typeof value !== 'string') return `Write both: 127.0.0.1:${port}.`;
  if (value.includes('@')) return loginHint(path);
  if (value.includes(',')) return 'Make each one an entry of its own.';
  if (/^[\da-f]*:[\da-f:.]*$/i.test(value)) {
    return `Put an IPv6 address in brackets: [::1]:${port}.`;
  }
  const place = value.replace(/^[a-z_+]+:\/\//i, '').replace(/\/.*$/, '');
  const whole = /:\d+$/.test(place) ? place : `${place.replace(/:.*$/, '')}:${port}`;
  if (value.includes('://')) return `Leave out the scheme: ${whole}.`;
  return /^[^\s:]+$/.test(value) ? `Add the port: ${value}:${port}.` : undefined;
}

function loginHint(path: Path): string | undefined {
  if (path[0] === 'kafka') return 'Logins have keys of their own, below kafka.sasl.';
  const beside = nodeAt(path.slice(0, -1));
  return beside !== undefined && Object.hasOwn(propertiesOf(beside), 'username')
    ? 'A login has keys of its own: username and password_file.'
    : undefined;
}

function mailHint(value: string): string | undefined {
  const named = /<([^<>\s]+@[^<>\s]+)>/.exec(value)?.[1];
  if (named !== undefined) return `Leave the name out: ${named}.`;
  if (/^[^\s@]+$/.test(value)) return `Add the host: ${value}@localhost.`;
  return /[,;]/.test(value) ? 'Make each one an entry of its own.' : undefined;
}

/** Formats a value for messages: one short line, secrets masked. */
function showValue(value: unknown, path: readonly PropertyKey[]): string {
  if (value === undefined) return 'missing';
  if (value === null) return 'empty';
  if (Array.isArray(value)) {
    return value.some((item) => typeof item === 'object')
      ? 'a list'
      : `[${value.map((item, i) => showValue(item, [...path, i])).join(', ')}]`;
  }
  if (typeof value === 'object') return 'a map';
  const node = nodeAt(path);
  if (node === undefined || holdsSecret(node)) return '(hidden)';
  if (typeof value !== 'string') return String(value);
  const text = JSON.stringify(maskText(value, node));
  return text.length > longestShown ? `${text.slice(0, longestShown)}…"` : text;
}
