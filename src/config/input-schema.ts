import { z } from 'zod';
import { configSchema } from './schema.ts';

/** JSON Schema of one setting or block, with this project's metadata (see schema.ts). */
export interface SchemaNode {
  readonly type?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  /** Values of a map whose keys the operator names. */
  readonly additionalProperties?: SchemaNode | boolean;
  readonly required?: readonly string[];
  readonly items?: SchemaNode;
  /** Blocks of several types; `type` says which. */
  readonly oneOf?: readonly SchemaNode[];
  /** Text or a block. */
  readonly anyOf?: readonly SchemaNode[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  /** Range of a duration, which is text in the file. */
  readonly duration?: { readonly minMs: number; readonly maxMs: number };
  /** Required form of the text, in words. */
  readonly form?: string;
  /** Port of an example of `host:port`. */
  readonly examplePort?: number;
  /** A mail address or a user name: what is before an @ in it is shown. */
  readonly holdsNoLogin?: boolean;
  /** Never shown, and refused in the configuration file. */
  readonly secret?: boolean;
  /** A secret that the file may hold nevertheless; see literal-secrets.ts. */
  readonly inFile?: boolean;
}

let known: SchemaNode | undefined;

/** Returns the schema of the operator's input as a tree. Built once, in some milliseconds. */
export function inputSchema(): SchemaNode {
  known ??= z.toJSONSchema(configSchema, { io: 'input' }) as SchemaNode;
  return known;
}

/**
 * Lists the properties of a block; those of every variant where `type:` chooses one. Of a key that several variants
 * have, a secret one counts: its value must not be shown.
 */
export function propertiesOf(node: SchemaNode): Readonly<Record<string, SchemaNode>> {
  const variants = node.oneOf ?? node.anyOf;
  if (variants === undefined) return node.properties ?? {};
  const merged: Record<string, SchemaNode> = {};
  for (const [name, property] of variants.flatMap((each) => Object.entries(propertiesOf(each)))) {
    if (merged[name] === undefined || property.secret === true) merged[name] = property;
  }
  return merged;
}

/** Lists the properties of a block with this value: those of the variant that its `type` chooses, if it does. */
export function propertiesFor(
  node: SchemaNode,
  value: object,
): Readonly<Record<string, SchemaNode>> {
  const { type } = value as { readonly type?: unknown };
  const chosen = node.oneOf?.find((variant) => variant.properties?.type?.const === type);
  return propertiesOf(chosen ?? node);
}

/** Returns the schema at a path, undefined where no setting exists. */
export function nodeAt(path: readonly PropertyKey[]): SchemaNode | undefined {
  let node: SchemaNode | undefined = inputSchema();
  for (const step of path) {
    if (node === undefined) return undefined;
    if (typeof step === 'number') node = node.items;
    else {
      const properties = propertiesOf(node);
      const named = Object.hasOwn(properties, step) ? properties[String(step)] : undefined;
      const { additionalProperties: any } = node;
      node = named ?? (typeof any === 'object' ? any : undefined);
    }
  }
  return node;
}

export function isMapNode(node: SchemaNode): boolean {
  return node.type === 'object' || node.oneOf !== undefined;
}

/** Reports whether the keys of a map are the operator's own names: it is one setting, not a block of them. */
export function isNamedMap({ properties, additionalProperties }: SchemaNode): boolean {
  return properties === undefined && typeof additionalProperties === 'object';
}

/** Formats a path: `alert.webhooks[0].url`. */
export function keyOf(path: readonly PropertyKey[]): string {
  return path
    .map((step) => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`))
    .join('')
    .replace(/^\./, '');
}

/** A scalar below a value, and the schema at its place. */
export interface Leaf {
  readonly path: readonly PropertyKey[];
  readonly value: unknown;
  readonly node: SchemaNode;
}

/** Yields the scalars of all known keys of a configuration, entries of lists included. */
export function* leavesOf(
  value: unknown,
  node: SchemaNode = inputSchema(),
  path: readonly PropertyKey[] = [],
): Generator<Leaf, void> {
  if (typeof value !== 'object' || value === null) {
    yield { path, value, node };
    return;
  }
  const isList = Array.isArray(value);
  const properties = propertiesFor(node, value);
  for (const [name, child] of Object.entries(value)) {
    const below = isList ? (node.items ?? {}) : Object.hasOwn(properties, name) && properties[name];
    if (below) yield* leavesOf(child, below, [...path, isList ? Number(name) : name]);
  }
}

/** Reports whether a setting, or one below it, is a secret: its value is shown nowhere. */
export function holdsSecret(node: SchemaNode): boolean {
  if (node.secret === true) return true;
  if (node.items !== undefined) return holdsSecret(node.items);
  return Object.values(propertiesOf(node)).some(holdsSecret);
}
