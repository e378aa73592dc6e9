import type { Series } from '../../series/series-window.ts';

/** More than are judged, and than are mostly offered; names of hosts that come and go do not pile up. */
const mostNames = 65_536;

/**
 * Series and stages by the bytes that rows have for them, made once: windows name the same ones again and
 * again, and what is the same object is told at a glance.
 *
 * Memory: some hundred bytes a series, at most 40 MB. Cost: a tenth of a microsecond.
 */
export class KnownNames {
  readonly #series = new Map<string, Series>();
  readonly #texts = new Map<string, string>();

  /** The series of a row. @param read reads it, if it is not known. */
  series(bytes: Buffer, from: number, to: number, read: () => Series): Series {
    return known(this.#series, bytes.toString('latin1', from, to), read);
  }

  /** A text in UTF-8. */
  text(bytes: Buffer, from: number, to: number): string {
    return known(this.#texts, bytes.toString('latin1', from, to), () =>
      bytes.toString('utf8', from, to),
    );
  }
}

function known<Name>(names: Map<string, Name>, key: string, read: () => Name): Name {
  let name = names.get(key);
  if (name === undefined) {
    name = read();
    if (names.size >= mostNames) names.clear();
    names.set(key, name);
  }
  return name;
}
