/** Time over which use is remembered: two refreshes of a page. */
const rememberedMs = 10_000;
/** Most clients that are remembered. */
const maxClients = 10_000;

interface Use {
  /** Time of places, decayed to `atMs`. */
  readonly usedMs: number;
  readonly atMs: number;
}

/** The part of the places that each client has used lately. */
export class ClientShares {
  readonly #places: number;
  /** In order of their last request or use. */
  readonly #uses = new Map<string, Use>();

  /** @param places that there are for all */
  constructor(places: number) {
    this.#places = places;
  }

  /** Notes a request of a client, or that it has used a place. */
  add(client: string, usedMs: number, nowMs: number): void {
    const before = this.#usedMs(client, nowMs);
    this.#uses.delete(client);
    this.#uses.set(client, { usedMs: before + usedMs, atMs: nowMs });
    for (const [oldest, { atMs }] of this.#uses) {
      if (nowMs - atMs <= rememberedMs && this.#uses.size <= maxClients) break;
      this.#uses.delete(oldest);
    }
  }

  /**
   * Places that a client may have now: its part of all, once it has used more than that; before, the most
   * that one may have.
   *
   * @param runningMs time that its places are in use by now
   */
  placesOf(client: string, most: number, runningMs: number, nowMs: number): number {
    if (!this.isOver(client, runningMs, nowMs)) return most;
    return Math.min(most, Math.max(1, Math.floor(this.#part)));
  }

  /** Reports whether a client has used more than its part, beside others. Parameters as of `placesOf`. */
  isOver(client: string, runningMs: number, nowMs: number): boolean {
    return (
      this.#uses.size > 1 && this.#usedMs(client, nowMs) + runningMs > this.#part * rememberedMs
    );
  }

  get #part(): number {
    return this.#places / Math.max(1, this.#uses.size);
  }

  #usedMs(client: string, nowMs: number): number {
    const use = this.#uses.get(client);
    return use === undefined ? 0 : use.usedMs * Math.exp((use.atMs - nowMs) / rememberedMs);
  }
}
