import type { ConfigProblem } from '../config-error.ts';
import { keyOf, leavesOf, nodeAt } from '../input-schema.ts';
import type { SettingTree } from './setting-tree.ts';

/**
 * Follows every `*_file` key: a secret's first line becomes the secret (`password_file` fills `password`),
 * any other file must only be readable. Changes the tree; returns the problems.
 */
export function readSecrets(
  tree: SettingTree,
  readFile: (path: string) => string,
): readonly ConfigProblem[] {
  return [...leavesOf(tree.value)].flatMap(({ path, value }) => {
    const name = String(path.at(-1));
    if (!name.endsWith('_file') || typeof value !== 'string') return [];
    const problem = follow(tree, path, value, readFile);
    return problem === undefined
      ? []
      : [{ where: tree.where(path), key: keyOf(path), message: `${keyOf(path)} ${problem}` }];
  });
}

/** Reads one file into its block; returns its problem as the end of a sentence. */
function follow(
  tree: SettingTree,
  path: readonly PropertyKey[],
  file: string,
  readFile: (path: string) => string,
): string | undefined {
  const parent = path.slice(0, -1);
  const block = tree.at(parent) as Record<string, unknown>;
  const secret = String(path.at(-1)).slice(0, -'_file'.length);
  const isSecret = nodeAt([...parent, secret]) !== undefined;
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
  if (/[\0\uFFFD]/.test(text)) {
    return `must be a file of UTF-8 text: ${JSON.stringify(file)} is of another encoding, perhaps UTF-16`;
  }
  const line = text.replace(/^\uFEFF/, '').split(/\r?\n/, 1)[0] ?? '';
  if (line === '') {
    return `must be a file whose first line is the ${secret}: ${JSON.stringify(file)} starts empty`;
  }
  block[secret] = line;
  return undefined;
}
