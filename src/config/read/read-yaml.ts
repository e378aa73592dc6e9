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
import type { ConfigProblem } from '../config-error.ts';

/** A configuration file as a tree of plain values, with the position of each. */
export interface YamlTree {
  readonly value: Readonly<Record<string, unknown>>;
  readonly problems: readonly ConfigProblem[];
  /** Returns `file:line:column` of a key or its value, or of the nearest one around it in the file. */
  where(path: readonly PropertyKey[], of: 'key' | 'value'): string;
  /** Returns a scalar as it is written: `0123` for 123. */
  written(path: readonly PropertyKey[]): string | undefined;
}

/** Most nodes that a file may expand to, aliases counted each time: limits the expansion of aliases. */
const maxNodes = 10_000;

/** Replaces messages of the parser that name its own interface or quote possible secrets. */
const explanations: Readonly<
  Record<string, { readonly message?: string; readonly hint?: string }>
> = {
  TAB_AS_INDENT: { hint: 'Indent with spaces: YAML does not allow tabs.' },
  MULTIPLE_DOCS: {
    message: 'a second document begins',
    hint: 'Keep one document: take out the line "---".',
  },
  BAD_ALIAS: {
    message: 'an alias names no anchor above it',
    hint: 'Put quotes around a value that starts with "*".',
  },
  TAG_RESOLVE_FAILED: {
    message: 'a tag is not known',
    hint: 'Put quotes around a value that starts with "!".',
  },
  BAD_DIRECTIVE: { message: 'a directive is not known', hint: 'Lines do not start with "%".' },
  BAD_DQ_ESCAPE: {
    message: 'an escape in double quotes is not known',
    hint: 'Single quotes take every character as it is.',
  },
  BAD_SCALAR_START: { hint: 'Put quotes around the value.' },
  BLOCK_AS_IMPLICIT_KEY: { hint: 'Put quotes around a value that holds ": ".' },
  BAD_INDENT: { hint: 'Look at the indentation here, and for open brackets and quotes above.' },
  MISSING_CHAR: { hint: 'Look for an open quote or bracket above.' },
  MULTILINE_IMPLICIT_KEY: { hint: 'A ":" is missing after a key, or an indentation is wrong.' },
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
  if (text.includes('\0')) {
    const problem = { where: file, key: '', message: 'must be UTF-8 text: it seems to be UTF-16' };
    return { value: {}, problems: [problem], where: () => file, written: () => undefined };
  }
  const errors: YAMLError[] = [...document.errors, ...document.warnings];
  const problems = errors.map((error) => syntaxProblem(error, at(error.pos[0]), text));
  const broken = errors.some((error) => error.code !== 'DUPLICATE_KEY');
  const walk = new TreeWalk(document);
  const root = broken ? null : document.contents;
  const isEmpty = root === null || (isScalar(root) && root.value === null);
  const value = isEmpty ? {} : walk.read(root, '', 0);
  for (const offset of walk.badAliases) {
    problems.push(problemOf('BAD_ALIAS', at(offset), 'an alias names no anchor above it'));
  }
  for (const offset of walk.notUtf8) {
    problems.push({
      where: at(offset),
      key: '',
      message: 'must be UTF-8 text: some bytes are not',
    });
  }
  if (walk.tooLarge) {
    problems.push({ where: file, key: '', message: 'must be smaller: it expands without end' });
  } else if (!isEmpty && !isMap(root)) {
    const message = 'must be a map of keys and values';
    const hint = 'Write `kafka:` and so on.';
    problems.push({ where: at(root.range[0]), key: '', message, hint });
  }
  return {
    value: isEmpty || !isMap(root) || walk.tooLarge ? {} : (value as Record<string, unknown>),
    problems,
    where: (path, of) => {
      for (let length = path.length; length > 0; length--) {
        const key = path.slice(0, length).join('.');
        const offset = (of === 'value' ? walk.values.get(key) : undefined) ?? walk.keys.get(key);
        if (offset !== undefined) return at(offset);
      }
      return file;
    },
    written: (path) => walk.written.get(path.join('.')),
  };
}

function syntaxProblem(error: YAMLError, where: string, text: string): ConfigProblem {
  if (error.code === 'DUPLICATE_KEY') {
    const key = /^[\w.-]+/.exec(text.slice(error.pos[0]))?.[0] ?? 'a key';
    const message = `${key} must stand once in its block: this is the second time`;
    return { where, key: '', message, hint: 'Keep one of the two.' };
  }
  // Text after the colon quotes the file, which may contain a secret.
  return problemOf(error.code, where, error.message.split(': ')[0] ?? '');
}

function problemOf(code: string, where: string, parserSays: string): ConfigProblem {
  const { message = parserSays, hint } = explanations[code] ?? {};
  return { where, key: '', message: `must be valid YAML: ${message}`, hint };
}

class TreeWalk {
  readonly keys = new Map<string, number>();
  readonly values = new Map<string, number>();
  /** Offsets of aliases without an anchor, such as a password that starts with *. */
  readonly badAliases: number[] = [];
  /** Scalars that are no text, as they are written. */
  readonly written = new Map<string, string>();
  /** Offsets of values with bytes that are not UTF-8; in a comment they do no harm. */
  readonly notUtf8: number[] = [];
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
      const target = node.resolve(this.#document) as ParsedNode | undefined;
      if (target === undefined) this.badAliases.push(node.range[0]);
      return this.read(target ?? null, path, depth + 1);
    }
    const below = (key: PropertyKey) => (path === '' ? String(key) : `${path}.${String(key)}`);
    if (isSeq(node)) {
      return node.items.map((item, i) => this.read(item as ParsedNode, below(i), depth + 1));
    }
    if (!isMap(node)) {
      if (!isScalar(node)) return null;
      if (typeof node.value !== 'string') this.written.set(path, node.source ?? '');
      if (String(node.value).includes('\uFFFD')) this.notUtf8.push(node.range[0]);
      return node.value;
    }
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
