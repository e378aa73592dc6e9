import { readFile } from 'node:fs/promises';

/** A replaced module, by URL, and the file with its text. */
export interface MutantHookData {
  readonly url: string;
  readonly path: string;
}

interface Loaded {
  readonly format: string;
  readonly source: string;
  readonly shortCircuit: true;
}

let planted: MutantHookData | undefined;

/** Hooks of node:module's `register`: they run in their own thread, and are exported by these names. */
export function initialize(data: MutantHookData): void {
  planted = data;
}

export async function load(
  url: string,
  context: object,
  next: (url: string, context: object) => Promise<object>,
): Promise<object | Loaded> {
  if (planted === undefined || url !== planted.url) return next(url, context);
  return { format: 'module', source: await readFile(planted.path, 'utf8'), shortCircuit: true };
}
