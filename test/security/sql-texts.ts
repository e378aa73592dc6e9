/** A string or template of a TypeScript source. */
export interface SqlText {
  readonly line: number;
  readonly text: string;
  /** Expressions inside `${}`, and operands that `+` puts beside it. */
  readonly holes: readonly string[];
}

const looksLikeSql = new RegExp(
  [
    'SELECT\\s+(?!the\\b)[\\s\\S]*\\bFROM\\b|SELECT\\s+\\w+\\(|INSERT\\s+INTO',
    'ALTER\\s+(TABLE|USER)|CREATE\\s+(TABLE|DATABASE|VIEW|MATERIALIZED|USER)',
    'DROP\\s+(TABLE|DATABASE|VIEW)|DELETE\\s+FROM|TRUNCATE\\s|GRANT\\s|FROM\\s+\\$|WHERE\\s',
  ]
    .map((part) => `\\b(${part})`)
    .join('|'),
);

/** Every SQL text of a source, with what is put into it. */
export function sqlTextsIn(source: string): SqlText[] {
  return [...literalsOf(source)].filter(({ text }) => looksLikeSql.test(text));
}

/** Strings and templates, outside comments; a regular expression is taken for what it looks like. */
function* literalsOf(source: string): Generator<SqlText> {
  let at = 0;
  while (at < source.length) {
    const char = source[at] ?? '';
    if (source.startsWith('//', at)) at = endOf(source, '\n', at);
    else if (source.startsWith('/*', at)) at = endOf(source, '*/', at) + 2;
    else if (char === '/' && /[(,=:[!&|?{};]\s*$/.test(source.slice(Math.max(0, at - 20), at))) {
      at = regexEnd(source, at);
    } else if (char === '"' || char === "'" || char === '`') {
      const { end, holes } = literalEnd(source, at);
      const line = source.slice(0, at).split('\n').length;
      yield { line, text: source.slice(at, end), holes: [...holes, ...operands(source, at, end)] };
      for (const hole of holes) yield* literalsOf(hole);
      at = end;
    } else at++;
  }
}

function endOf(source: string, mark: string, from: number): number {
  const end = source.indexOf(mark, from);
  return end < 0 ? source.length : end;
}

function regexEnd(source: string, from: number): number {
  let inClass = false;
  for (let at = from + 1; at < source.length; at++) {
    const char = source[at];
    if (char === '\\') at++;
    else if (char === '[') inClass = true;
    else if (char === ']') inClass = false;
    else if ((char === '/' && !inClass) || char === '\n') return at + 1;
  }
  return source.length;
}

function literalEnd(source: string, from: number): { end: number; holes: string[] } {
  const quote = source[from];
  const holes: string[] = [];
  for (let at = from + 1; at < source.length; at++) {
    if (source[at] === '\\') at++;
    else if (source[at] === quote) return { end: at + 1, holes };
    else if (quote === '`' && source.startsWith('${', at)) {
      const end = holeEnd(source, at + 2);
      holes.push(source.slice(at + 2, end));
      at = end;
    }
  }
  return { end: source.length, holes };
}

/** Where the brace closes that opened before `from`. */
function holeEnd(source: string, from: number): number {
  let depth = 1;
  for (let at = from; at < source.length; at++) {
    const char = source[at] ?? '';
    if ('\'"`'.includes(char)) at = literalEnd(source, at).end - 1;
    else if (char === '{') depth++;
    else if (char === '}' && --depth === 0) return at;
  }
  return source.length;
}

function operands(source: string, from: number, end: number): string[] {
  const before = /([^\s])\s*\+\s*$/.exec(source.slice(Math.max(0, from - 200), from))?.[1];
  const after = /^\s*\+\s*(\S+)/.exec(source.slice(end, end + 200))?.[1];
  return [before, after].filter((part) => part !== undefined && !/^['"`]/.test(part)) as string[];
}
