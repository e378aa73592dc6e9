import type { Series } from '../../series/series-window.ts';

/** Limit of names, so that those of short-lived hosts do not accumulate. */
const mostNames = 65_536;

/**
 * Interns series and stages by their bytes in rows: equal names become the same object, which is cheap to
 * compare.
 *
 * Memory: some hundred bytes per series, at most 40 MB. Cost: 0.1 µs.
 */
export class InternedNames {
  readonly #series = new Map<string, Series>();
  readonly #texts = new Map<string, string>();

  /** Returns the series of a row; `read` decodes it if it is new. */
  series(bytes: Buffer, from: number, to: number, read: () => Series): Series {
    return interned(this.#series, bytes.toString('latin1', from, to), read);
  }

  text(bytes: Buffer, from: number, to: number): string {
    return interned(this.#texts, bytes.toString('latin1', from, to), () =>
      bytes.toString('utf8', from, to),
    );
  }
}

function interned<Name>(names: Map<string, Name>, key: string, read: () => Name): Name {
  let name = names.get(key);
  if (name === undefined) {
    name = read();
    if (names.size >= mostNames) names.clear();
    names.set(key, name);
  }
  return name;
}
