/** Keys and positions from an object to a value in it. */
export type Path = readonly (string | number)[];

const step = /\.?(?:"((?:[^"\\]|\\["\\])+)"|([^.[\]"\s]+))|\[(\d{1,6})\]/y;

/** Parses `a.b[0]."key.with.dots"`; undefined for other text. */
export function parsePath(text: string): Path | undefined {
  const path: (string | number)[] = [];
  step.lastIndex = 0;
  while (step.lastIndex < text.length) {
    const from = step.lastIndex;
    const match = step.exec(text);
    if (match === null) return undefined;
    const [whole, quoted, plain, position] = match;
    if (position === undefined && whole.startsWith('.') !== from > 0) return undefined;
    if (position !== undefined) path.push(Number(position));
    else path.push(quoted?.replace(/\\(.)/g, '$1') ?? (plain as string));
  }
  return path.length > 0 ? path : undefined;
}

/**
 * Returns what lies at a path. Only own keys count, so `__proto__` and `constructor` are keys like others.
 * Absent is what is not there, null, and the texts '' and '-' that logs write for it: undefined.
 */
export function valueAt(root: unknown, path: Path): unknown {
  let value = root;
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Readonly<Record<string | number, unknown>>)[key];
  }
  return value === null || value === '' || value === '-' ? undefined : value;
}
