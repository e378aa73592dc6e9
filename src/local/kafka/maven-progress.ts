const unitBytes: Readonly<Record<string, number>> = { B: 1, kB: 1e3, MB: 1e6, GB: 1e9 };

/** Counts the files and bytes that `mvn -B` has downloaded so far. */
export class MavenProgress {
  #rest = '';
  #fileCount = 0;
  #bytes = 0;

  /** Adds output. Returns "12 files, 8.1 MB" if a file was downloaded, else null. */
  add(text: string): string | null {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    const before = this.#fileCount;
    for (const line of lines) {
      const match = /Downloaded from .*\(([\d.]+) (B|kB|MB|GB)(?: at .*)?\)/.exec(line);
      if (match === null) continue;
      this.#fileCount += 1;
      this.#bytes += Number(match[1]) * (unitBytes[match[2] ?? 'B'] ?? 1);
    }
    if (this.#fileCount === before) return null;
    return `${this.#fileCount} files, ${(this.#bytes / 1e6).toFixed(1)} MB`;
  }
}
