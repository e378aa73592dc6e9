/** Map with sorted keys, which are sorted again only after they have changed. */
export class OrderedMap<Value> extends Map<string, Value> {
  #sorted: readonly string[] | undefined;

  override set(key: string, value: Value): this {
    if (!this.has(key)) this.#sorted = undefined;
    return super.set(key, value);
  }

  override delete(key: string): boolean {
    if (this.has(key)) this.#sorted = undefined;
    return super.delete(key);
  }

  override clear(): void {
    this.#sorted = undefined;
    super.clear();
  }

  /** Reorders the entries by `keys`, which includes all of its keys. */
  putInOrder(keys: Iterable<string>): void {
    for (const key of keys) {
      const value = this.get(key);
      if (value === undefined) continue;
      super.delete(key);
      super.set(key, value);
    }
  }

  /** Keys sorted by code units. Later changes of the map do not change the returned array. */
  sortedKeys(): readonly string[] {
    this.#sorted ??= [...this.keys()].sort();
    return this.#sorted;
  }
}
