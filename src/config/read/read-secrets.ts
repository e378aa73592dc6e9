import type { ConfigProblem } from '../config-error.ts';
import { nodeAt } from '../input-schema.ts';
import type { SettingTree } from './setting-tree.ts';

/**
 * Follows every `*_file` key: a secret's first line becomes the secret (`password_file` fills `password`),
 * any other file must only be readable. Changes the tree; returns the problems.
 */
export function readSecrets(
  tree: SettingTree,
  readFile: (path: string) => string,
): readonly ConfigProblem[] {
  return below(tree.value, [], tree, readFile);
}

function below(
  value: unknown,
  path: readonly PropertyKey[],
  tree: SettingTree,
  readFile: (path: string) => string,
): ConfigProblem[] {
  if (Array.isArray(value)) {
    return value.flatMap((item, i) => below(item, [...path, i], tree, readFile));
  }
  if (typeof value !== 'object' || value === null) return [];
  const block = value as Record<string, unknown>;
  return Object.entries(block).flatMap(([name, child]) => {
    const at = [...path, name];
    if (!name.endsWith('_file') || nodeAt(at) === undefined || typeof child !== 'string') {
      return below(child, at, tree, readFile);
    }
    const problem = follow(
      block,
      name,
      child,
      nodeAt([...path, stem(name)]) !== undefined,
      readFile,
    );
    if (problem === undefined) return [];
    const key = at.join('.').replace(/\.(\d+)(?=\.|$)/g, '[$1]');
    return [{ where: tree.where(at), key, message: `${key} ${problem}` }];
  });
}

function stem(name: string): string {
  return name.slice(0, -'_file'.length);
}

/** Reads one file into its block; returns its problem as the end of a sentence. */
function follow(
  block: Record<string, unknown>,
  name: string,
  file: string,
  isSecret: boolean,
  readFile: (path: string) => string,
): string | undefined {
  const secret = stem(name);
  if (isSecret && block[secret] !== undefined) {
    return `must not be set beside ${secret}: keep one of the two`;
  }
  let text: string;
  try {
    text = readFile(file);
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code ?? String(error);
    return `must be a readable file: it is ${JSON.stringify(file)} (${reason})`;
  }
  if (!isSecret) return undefined;
  const line = text.split(/\r?\n/, 1)[0] ?? '';
  if (line === '') {
    return `must be a file whose first line is the ${secret}: ${JSON.stringify(file)} starts empty`;
  }
  block[secret] = line;
  return undefined;
}
