/** A queue in which clients take turns: one that adds much waits for itself. */
export class FairQueue<T> {
  /** The client whose turn is next comes first. */
  readonly #queues = new Map<string, T[]>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  sizeOf(client: string): number {
    return this.#queues.get(client)?.length ?? 0;
  }

  /** Adds an item to what a client waits for. Several clients may wait for one. */
  add(client: string, item: T): void {
    const queue = this.#queues.get(client);
    if (queue === undefined) this.#queues.set(client, [item]);
    else queue.push(item);
    this.#size++;
  }

  /** Takes the oldest item of the next client that may have a turn; undefined without one. */
  next(mayHave: (client: string, oldest: T) => boolean): { client: string; item: T } | undefined {
    for (const [client, queue] of this.#queues) {
      const [item] = queue;
      if (item === undefined || !mayHave(client, item)) continue;
      queue.shift();
      this.#size--;
      this.#queues.delete(client);
      if (queue.length > 0) this.#queues.set(client, queue);
      return { client, item };
    }
    return undefined;
  }

  /** Removes an item from what a client waits for. */
  remove(client: string, item: T): void {
    const queue = this.#queues.get(client);
    const at = queue?.indexOf(item) ?? -1;
    if (queue === undefined || at < 0) return;
    queue.splice(at, 1);
    this.#size--;
    if (queue.length === 0) this.#queues.delete(client);
  }

  /** The client that waits for the most, and the newest item of it; undefined where nothing waits. */
  longest(): { client: string; newest: T } | undefined {
    let longest: { client: string; newest: T } | undefined;
    for (const [client, queue] of this.#queues) {
      const newest = queue.at(-1);
      if (newest === undefined || queue.length <= this.sizeOf(longest?.client ?? '')) continue;
      longest = { client, newest };
    }
    return longest;
  }
}
