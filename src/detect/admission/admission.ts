import type { StateArchive } from '../../snapshot/archive.ts';

/** Numbers that tune it. A turn is a block of two minutes. */
const tuned = {
  /** Part of a claim that is left a turn later: half of it after ten minutes. */
  keptATurn: 0.5 ** (1 / 5),
  /** A place changes hands for a claim so many times as large as that of its holder, and by a margin. */
  times: 1.5,
  /** Candidates that are remembered, a place. */
  candidatesAPlace: 2,
  /** A smaller claim is forgotten. */
  least: 0.5,
} as const;

/** What a key brings in a window: requests of a series, or milliseconds of a stage. Not negative. */
export interface Offer {
  readonly key: string;
  readonly amount: number;
}

/** Places that change hands: those that lose theirs, and those that get one, the largest claims first. */
export interface Turn {
  readonly out: readonly string[];
  readonly in: readonly string[];
}

interface Claim {
  /** Decayed sum as of the last turn. */
  load: number;
  /** What has come since. */
  amount: number;
}

/**
 * Gives a limited number of places to the keys that bring the most, over some ten minutes. It is idle while there
 * is a place for all. From the first refusal on it counts what holders and candidates bring; at each turn free
 * places go to the largest claims, and a place changes hands only for one that is clearly larger. It does not
 * matter in which order keys come, nor how they are named: ties are broken by a hash.
 *
 * Memory: two candidates a place, and what comes of others until the next turn; some 200 bytes each. Cost: a look-up
 * an offer, a sort a turn.
 */
export class Admission {
  readonly #margin: number;
  readonly #holders = new Map<string, Claim>();
  #candidates = new Map<string, Claim>();

  /** @param margin by which a claim must exceed that of a holder, in units of offers. */
  constructor(margin: number) {
    this.#margin = margin;
  }

  /** Whether some have no place, or had none minutes ago. */
  get isCrowded(): boolean {
    return this.#candidates.size > 0;
  }

  /** Counts what a holder of a place brings; needed only while it is crowded. */
  countHolder({ key, amount }: Offer): void {
    claimOf(this.#holders, key).amount += amount;
  }

  /** Counts what keys without a place bring in a window: of those with the most. */
  countRefused(offers: readonly Offer[], places: number): void {
    for (const { key, amount } of largest(offers, tuned.candidatesAPlace * places)) {
      claimOf(this.#candidates, key).amount += amount;
    }
  }

  /** A key has got a place amid a turn, with the largest claim of those that it follows. */
  inherit(key: string, from: readonly string[]): void {
    this.#candidates.delete(key);
    const claims = from.map((one) => this.#claim(this.#holders, one)).sort(byClaim);
    const { load, amount } = this.#holders.get(claims[0]?.key ?? '') ?? { load: 0, amount: 0 };
    this.#holders.set(key, { load, amount });
  }

  /** The holder with the smallest claim, of those that may lose their place. */
  least(holders: Iterable<string>, mayLose: (key: string) => boolean): string | undefined {
    const free = [...holders].filter(mayLose).map((key) => this.#claim(this.#holders, key));
    return free.sort(byClaim).at(-1)?.key;
  }

  /** Whoever had a place has none any more. */
  forget(key: string): void {
    const claim = this.#holders.get(key);
    this.#holders.delete(key);
    if (claim !== undefined && this.isCrowded) this.#candidates.set(key, claim);
  }

  /**
   * Which places change hands at the next turn. Nothing is changed by asking.
   *
   * @param most so many keys get one at most.
   */
  plan(
    holders: Iterable<string>,
    places: number,
    isFixed: (key: string) => boolean,
    most = Number.POSITIVE_INFINITY,
  ): Turn {
    const held = [...holders].map((key) => this.#claim(this.#holders, key)).sort(byClaim);
    const losing = held.filter(({ key }) => !isFixed(key)).reverse();
    const out: string[] = [];
    for (const { key } of losing.slice(0, Math.max(0, held.length - places))) out.push(key);
    const asking = [...this.#candidates.keys()]
      .map((key) => this.#claim(this.#candidates, key))
      .filter(({ amount }) => amount >= tuned.least)
      .sort(byClaim);
    const free = Math.max(0, places - held.length);
    const entering = asking.slice(0, Math.min(free, most)).map(({ key }) => key);
    for (const { key, amount } of asking.slice(free)) {
      if (entering.length >= most) break;
      const loser = losing[out.length];
      if (loser === undefined || amount < tuned.times * loser.amount + this.#margin) break;
      out.push(loser.key);
      entering.push(key);
    }
    return { out, in: entering };
  }

  /** Takes the turn that was planned. */
  apply({ out, in: entering }: Turn, places: number): void {
    for (const claims of [this.#holders, this.#candidates]) {
      for (const claim of claims.values()) {
        claim.load = next(claim);
        claim.amount = 0;
      }
    }
    for (const key of entering) move(key, this.#candidates, this.#holders);
    for (const key of out) move(key, this.#holders, this.#candidates);
    const asking = [...this.#candidates].map(([key, { load }]) => ({ key, amount: load }));
    const known = asking.filter(({ amount }) => amount >= tuned.least);
    const kept = largest(known, tuned.candidatesAPlace * places);
    const candidates = new Map<string, Claim>();
    for (const { key, amount } of kept) candidates.set(key, { load: amount, amount: 0 });
    this.#candidates = candidates;
    if (candidates.size === 0) this.#holders.clear();
  }

  serialize(state: StateArchive): void {
    state.section('admission', 1, () => {
      for (const claims of [this.#holders, this.#candidates]) {
        state.list<[string, Claim]>(claims, (entry) => {
          const key = state.text(entry?.[0] ?? '');
          const load = state.number(entry?.[1].load ?? 0);
          const claim = { load, amount: state.number(entry?.[1].amount ?? 0) };
          claims.set(key, claim);
          return [key, claim];
        });
      }
    });
  }

  /** The claim that a key will have at the next turn. */
  #claim(claims: ReadonlyMap<string, Claim>, key: string): Offer {
    const claim = claims.get(key);
    return { key, amount: claim === undefined ? 0 : next(claim) };
  }
}

/** The offers with the most; all of them, as they are, where there are no more. */
export function largest<One extends Offer>(offers: readonly One[], count: number): readonly One[] {
  return offers.length <= count ? offers : ranked(offers).slice(0, count);
}

/** Those with the most first; of those with as much, in an order that is not that of their names. */
export function ranked<One extends Offer>(offers: readonly One[]): One[] {
  return [...offers].sort(byClaim);
}

function next({ load, amount }: Claim): number {
  return load * tuned.keptATurn + amount;
}

function claimOf(claims: Map<string, Claim>, key: string): Claim {
  let claim = claims.get(key);
  if (claim === undefined) {
    claim = { load: 0, amount: 0 };
    claims.set(key, claim);
  }
  return claim;
}

function move(key: string, from: Map<string, Claim>, to: Map<string, Claim>): void {
  to.set(key, from.get(key) ?? { load: 0, amount: 0 });
  from.delete(key);
}

function byClaim(a: Offer, b: Offer): number {
  return b.amount - a.amount || hashOf(a.key) - hashOf(b.key) || (a.key < b.key ? -1 : 1);
}

/** FNV-1a, 32 bits, of the code units. */
function hashOf(key: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < key.length; at++) {
    hash = Math.imul(hash ^ key.charCodeAt(at), 0x01000193);
  }
  return hash >>> 0;
}
