import protobuf from 'protobufjs';
import { recordLimits } from '../record-limits.ts';
import { SchemaFault, shownName } from '../schema-fault.ts';
import type { ReferencedSchema } from '../schema-source.ts';
import { type OrderOfMembers, withOrderOfMembers } from './patches/order-of-members.ts';
import { stubOf } from './stub-files.ts';

/** A `.proto` file with everything it imports. */
export interface ProtoFile {
  /**
   * Returns the message at a path of positions, from the outermost one inwards.
   *
   * @param name of the message that is meant where serializers count positions differently.
   * @throws {SchemaFault}, which is an {UnclearIndex} where they do and neither message has that name.
   */
  at(indexes: readonly number[], name?: string): protobuf.Type;
  /** Returns the message of a name, with its package or without. @throws {SchemaFault} */
  named(name: string): protobuf.Type;
}

/** An index that means one message to some serializers, and another one to others. */
export class UnclearIndex extends SchemaFault {
  readonly types: readonly protobuf.Type[];

  constructor(types: readonly protobuf.Type[], message: string) {
    super(message);
    this.types = types;
  }
}

/** Most levels of imports that import others. */
const maxImportDepth = 32;

/**
 * Parses a `.proto` file (proto2, proto3, editions) and what it imports: the given references and Google's
 * well-known types. protobufjs parses it; its code generator is never used.
 *
 * @throws {SchemaFault}
 */
export function parseProto(text: string, references: readonly ReferencedSchema[] = []): ProtoFile {
  const root = new protobuf.Root();
  const texts = new Map(references.map(({ name, text }) => [name, text]));
  try {
    const scope = parseInto(root, text, texts, new Set(), 0);
    const messages = messagesOf(new protobuf.Root(), text);
    root.resolveAll();
    return {
      at: (indexes, name) => messageAt(scope, messages, indexes, name),
      named: (name) => messageNamed(scope, messages, name),
    };
  } catch (error) {
    if (error instanceof SchemaFault) throw error;
    const message = error instanceof Error ? error.message : String(error);
    throw new SchemaFault(`a .proto file must be valid: ${message.slice(0, 200)}`);
  }
}

/** Parses a file and its imports into one tree; returns the namespace of the file's package. */
function parseInto(
  root: protobuf.Root,
  text: string,
  texts: ReadonlyMap<string, string>,
  done: Set<string>,
  depth: number,
): protobuf.NamespaceBase {
  if (depth > maxImportDepth) {
    throw new SchemaFault(`imports must nest at most ${maxImportDepth} levels: they nest deeper`);
  }
  const parsed = parseText(text, root);
  for (const name of [...(parsed.imports ?? []), ...(parsed.weakImports ?? [])]) {
    if (done.has(name)) continue;
    done.add(name);
    const known = protobuf.common.get(name);
    const given = texts.get(name) ?? stubOf(name);
    if (known?.nested !== undefined && !texts.has(name)) root.addJSON(known.nested);
    else if (given !== undefined) parseInto(root, given, texts, done, depth + 1);
    else
      throw new SchemaFault(
        `an import must be a well-known file or a reference: ${shownName(name)} is neither`,
      );
  }
  return packageOf(root, parsed.package);
}

function parseText(text: string, root: protobuf.Root): protobuf.IParserResult {
  if (text.length > recordLimits.schemaCharacters) {
    const rule = `a schema must have at most ${recordLimits.schemaCharacters} characters`;
    throw new SchemaFault(`${rule}: it has ${text.length}`);
  }
  return protobuf.parse(text, root, { keepCase: true });
}

function packageOf(root: protobuf.Root, name: string | undefined): protobuf.NamespaceBase {
  if (name === undefined) return root;
  const found = root.lookup(name);
  if (found instanceof protobuf.Namespace) return found;
  throw new SchemaFault(`the package ${shownName(name)} must not have the name of a message`);
}

/** A message's name, and those of the messages declared in it, in their order in the file. */
interface Declared {
  readonly name: string;
  readonly nested: readonly Declared[];
  /** The same with a place for each map between them: a compiler makes a message of a map's entries. */
  readonly withEntries: readonly (Declared | undefined)[];
}

/** Messages of one file. Parsed apart, as imports may be of the same package. */
function messagesOf(root: protobuf.Root, text: string): readonly Declared[] {
  const { result, members } = withOrderOfMembers(() => parseText(text, root));
  return packageOf(root, result.package)
    .nestedArray.filter((each) => each instanceof protobuf.Type)
    .map((type) => declaredBy(type, members));
}

function declaredBy(type: protobuf.Type, members: OrderOfMembers): Declared {
  const withEntries = (members.get(type) ?? []).flatMap((member) => {
    if (member instanceof protobuf.MapField) return [undefined];
    return member instanceof protobuf.Type ? [declaredBy(member, members)] : [];
  });
  const nested = withEntries.filter((each) => each !== undefined);
  return { name: type.name, nested, withEntries };
}

/**
 * Returns the message at a path. Serializers that have the file's descriptor count the entries of maps too,
 * and those that read its text do not. Where both find a message and not the same, nothing but `name` tells
 * which, or the bytes of a record.
 */
function messageAt(
  scope: protobuf.NamespaceBase,
  messages: readonly Declared[],
  indexes: readonly number[],
  name: string | undefined,
): protobuf.Type {
  const path = indexes.join('.');
  const plain = namesAt(messages, indexes, 'nested');
  const counted = namesAt(messages, indexes, 'withEntries');
  const names = plain ?? counted;
  if (names === undefined) {
    const there = placesAt(messages, indexes);
    throw new SchemaFault(
      `the message at index ${path} must be in the schema: it has ${there} there`,
    );
  }
  const type = typeAt(scope, names);
  if (counted === undefined || counted.join('.') === names.join('.')) return type;
  const other = typeAt(scope, counted);
  const named = name === undefined ? undefined : messageNamed(scope, messages, name);
  if (named === type || named === other) return named;
  const found = `${shownName(counted.join('.'))} where the entries of maps count, else ${shownName(names.join('.'))}`;
  const hint =
    name === undefined
      ? 'name it by the setting message of the topic'
      : `the setting message names neither: it is ${shownName(name)}`;
  const rule = `the message index ${path} must mean one message`;
  throw new UnclearIndex([type, other], `${rule}, and is ${found}: ${hint}`);
}

/** Names of the messages on a path, by one way to count them; undefined where there is none. */
function namesAt(
  messages: readonly Declared[],
  indexes: readonly number[],
  way: 'nested' | 'withEntries',
): readonly string[] | undefined {
  const names: string[] = [];
  let declared: readonly (Declared | undefined)[] = messages;
  for (const index of indexes) {
    const found = declared[index];
    if (found === undefined) return undefined;
    names.push(found.name);
    declared = found[way];
  }
  return names;
}

/** Number of messages where a path ends too early. */
function placesAt(messages: readonly Declared[], indexes: readonly number[]): number {
  let declared = messages;
  for (const index of indexes) {
    const found = declared[index];
    if (found === undefined) break;
    declared = found.nested;
  }
  return declared.length;
}

function typeAt(scope: protobuf.NamespaceBase, names: readonly string[]): protobuf.Type {
  let at = scope;
  for (const name of names) at = typeIn(at, name);
  return at as protobuf.Type;
}

function typeIn(scope: protobuf.NamespaceBase, name: string): protobuf.Type {
  const found = scope.get(name);
  if (found instanceof protobuf.Type) return found;
  throw new SchemaFault(`${shownName(name)} must be a message: it is not`);
}

/** A message by its full name, or by the part after the package: `Timing`, `Outer.Timing`. */
function messageNamed(
  scope: protobuf.NamespaceBase,
  messages: readonly Declared[],
  name: string,
): protobuf.Type {
  const prefix = scope.fullName === '' ? '' : `${scope.fullName.slice(1)}.`;
  const path = (name.startsWith(prefix) ? name.slice(prefix.length) : name).split('.');
  let declared = messages;
  let at: protobuf.NamespaceBase = scope;
  for (const part of path) {
    const found = declared.find((each) => each.name === part);
    if (found === undefined) {
      const names = messages.map((each) => each.name).slice(0, 10);
      throw new SchemaFault(
        `message ${shownName(name)} must be in the file: it has ${names.join(', ') || 'none'}`,
      );
    }
    at = typeIn(at, found.name);
    declared = found.nested;
  }
  return at as protobuf.Type;
}
