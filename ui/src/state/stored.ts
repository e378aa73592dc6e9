/** A text that this browser keeps; undefined where it has none, or keeps nothing. */
export function stored(key: string): string | undefined {
  try {
    return localStorage.getItem(`tailmark.${key}`) ?? undefined;
  } catch {
    return undefined;
  }
}

/** Keeps a text, or drops it. A browser that stores nothing forgets it with the page. */
export function store(key: string, text: string | undefined): void {
  try {
    if (text === undefined) localStorage.removeItem(`tailmark.${key}`);
    else localStorage.setItem(`tailmark.${key}`, text);
  } catch {
    // Nothing is stored.
  }
}
