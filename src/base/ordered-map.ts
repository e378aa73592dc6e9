/** A map, made empty, whose keys can be had in order, sorted once for as long as they are the same. */
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

  /** Has its keys in the order of these, which are all that it has or more. */
  putInOrder(keys: Iterable<string>): void {
    for (const key of keys) {
      const value = this.get(key);
      if (value === undefined) continue;
      super.delete(key);
      super.set(key, value);
    }
  }

  /** By the code units of their texts. Keys that come and go later leave it as it is. */
  sortedKeys(): readonly string[] {
    this.#sorted ??= [...this.keys()].sort();
    return this.#sorted;
  }
}
