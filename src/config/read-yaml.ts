import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type ParsedNode,
  parseDocument,
  type YAMLError,
} from 'yaml';
import type { ConfigProblem } from './config-error.ts';

/** A configuration file as a tree of plain values that knows where each of them stands. */
export interface YamlTree {
  readonly value: Readonly<Record<string, unknown>>;
  readonly problems: readonly ConfigProblem[];
  /** `file:line:column` of a key, or of the nearest block around it that the file has. */
  whereKey(path: readonly PropertyKey[]): string;
  /** `file:line:column` of a value, or of the nearest value around it that the file has. */
  whereValue(path: readonly PropertyKey[]): string;
}

/** Nodes a file may expand to, aliases counted each time: a file of aliases stays small. */
const maxNodes = 10_000;

const hints: Readonly<Record<string, string>> = {
  TAB_AS_INDENT: 'Indent with spaces: YAML does not allow tabs.',
  DUPLICATE_KEY: 'Keep one of the two.',
  MULTIPLE_DOCS: 'Keep one document: take out the line "---".',
  BAD_INDENT: 'Keys of one block start in the same column.',
  MULTILINE_IMPLICIT_KEY:
    'A ":" is missing after a key, or a line is not indented as it should be.',
};

/** Parses YAML 1.2, strictly: duplicate keys, tabs and several documents are problems. */
export function readYaml(text: string, file: string): YamlTree {
  const lines = new LineCounter();
  const document = parseDocument(text, {
    version: '1.2',
    strict: true,
    uniqueKeys: true,
    stringKeys: true,
    prettyErrors: false,
    lineCounter: lines,
  });
  const at = (offset: number) => {
    const { line, col } = lines.linePos(offset);
    return `${file}:${line}:${col}`;
  };
  const problems = document.errors.map((error) => syntaxProblem(error, at(error.pos[0])));
  const broken = document.errors.some((error) => error.code !== 'DUPLICATE_KEY');
  const walk = new TreeWalk(document);
  const root = broken ? null : document.contents;
  const isEmpty = root === null || (isScalar(root) && root.value === null);
  const value = isEmpty ? {} : walk.read(root, '', 0);
  if (walk.tooLarge) {
    problems.push({ where: file, key: '', message: 'must be smaller: it expands without end' });
  } else if (!isEmpty && !isMap(root)) {
    const message = 'must be a map of keys and values';
    problems.push({
      where: at(root.range[0]),
      key: '',
      message,
      hint: 'Write `kafka:` and so on.',
    });
  }
  const nearest = (path: readonly PropertyKey[], find: (key: string) => number | undefined) => {
    for (let length = path.length; length > 0; length--) {
      const offset = find(path.slice(0, length).join('.'));
      if (offset !== undefined) return at(offset);
    }
    return file;
  };
  return {
    value: isEmpty || !isMap(root) || walk.tooLarge ? {} : (value as Record<string, unknown>),
    problems,
    whereKey: (path) => nearest(path, (key) => walk.keys.get(key)),
    whereValue: (path) => nearest(path, (key) => walk.values.get(key) ?? walk.keys.get(key)),
  };
}

function syntaxProblem(error: YAMLError, where: string): ConfigProblem {
  const hint = hints[error.code];
  const message =
    error.code === 'DUPLICATE_KEY'
      ? 'a key must stand once in its block: this one is there already'
      : `must be valid YAML: ${error.message}`;
  return { where, key: '', message, ...(hint === undefined ? {} : { hint }) };
}

class TreeWalk {
  readonly keys = new Map<string, number>();
  readonly values = new Map<string, number>();
  tooLarge = false;
  readonly #document: Document.Parsed;
  #nodeCount = 0;

  constructor(document: Document.Parsed) {
    this.#document = document;
  }

  read(node: ParsedNode | null, path: string, depth: number): unknown {
    if (++this.#nodeCount > maxNodes || depth > 32) this.tooLarge = true;
    if (node === null || this.tooLarge) return null;
    if (path !== '' && !this.values.has(path)) this.values.set(path, node.range[0]);
    if (isAlias(node)) {
      return this.read((node.resolve(this.#document) as ParsedNode) ?? null, path, depth + 1);
    }
    const below = (key: PropertyKey) => (path === '' ? String(key) : `${path}.${String(key)}`);
    if (isSeq(node)) {
      return node.items.map((item, i) => this.read(item as ParsedNode, below(i), depth + 1));
    }
    if (!isMap(node)) return isScalar(node) ? node.value : null;
    const entries = node.items.map((pair): [string, unknown] => {
      const key = pair.key as ParsedNode;
      const name = String(isScalar(key) ? key.value : '');
      this.keys.set(below(name), key.range[0]);
      return [name, this.read(pair.value as ParsedNode | null, below(name), depth + 1)];
    });
    // fromEntries defines properties, so a key named __proto__ stays an unknown key.
    return Object.fromEntries(entries);
  }
}
