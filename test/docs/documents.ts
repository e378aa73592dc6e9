import { readdirSync, readFileSync } from 'node:fs';

export interface Document {
  /** From the root of the checkout: `docs/reference/event.md`. */
  readonly path: string;
  readonly text: string;
}

const root = new URL('../../', import.meta.url);

/** Every page a reader is sent to, in the order of their paths. */
export function documents(): Document[] {
  const pages = readdirSync(new URL('docs/', root), { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.endsWith('.md'),
  );
  return [
    'README.md',
    'ARCHITECTURE.md',
    'CHANGELOG.md',
    'sql/queries/README.md',
    ...pages.toSorted().map((name) => `docs/${name}`),
  ].map((path) => ({ path, text: readFileSync(new URL(path, root), 'utf8') }));
}
