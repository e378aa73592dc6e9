import { type StateArchive, serializeFields } from '../../snapshot/archive.ts';

/** Tuning of the admission. A turn is a block of two minutes. */
const tuning = {
  /** Decay of a claim per turn: half of it is left after ten minutes. */
  keptPerTurn: 0.5 ** (1 / 5),
  /** Factor by which a claim must exceed that of a slot's holder, besides a margin. */
  factor: 1.5,
  /** Candidates kept per slot. */
  candidatesPerSlot: 2,
  /** Smallest claim that is kept. */
  minClaim: 0.5,
} as const;

/** Amount of a key in a window: requests of a series, or milliseconds of a stage. */
export interface Offer {
  readonly key: string;
  readonly amount: number;
}

/** Reassignment of slots: keys that lose theirs, and keys that get one, largest claims first. */
export interface Turn {
  readonly out: readonly string[];
  readonly in: ReadonlySet<string>;
}

interface Claim {
  /** Decayed sum as of the last turn. */
  load: number;
  /** Amount since the last turn. */
  amount: number;
}

const none: Readonly<Claim> = { load: 0, amount: 0 };

/**
 * Assigns a limited number of slots to the keys with the largest amounts over some ten minutes. It is idle
 * while there is a slot for each. From the first refusal on it counts the amounts of holders and candidates.
 * At each turn free slots go to the largest claims, and held ones to claims that are clearly larger. The
 * order and names of keys do not matter: a hash breaks ties.
 *
 * Memory: two candidates per slot, and others until the next turn; some 200 bytes each. Cost: a look-up per
 * offer, a sort per turn.
 */
export class Admission {
  readonly #margin: number;
  readonly #holders = new Map<string, Claim>();
  #candidates = new Map<string, Claim>();

  /** @param margin by which a claim must exceed that of a holder, in units of offers. */
  constructor(margin: number) {
    this.#margin = margin;
  }

  /** True while some keys have no slot, and for some minutes after. */
  get isCrowded(): boolean {
    return this.#candidates.size > 0;
  }

  /** Counts the amount of a holder; needed only while crowded. */
  countHolder({ key, amount }: Offer): void {
    claimOf(this.#holders, key).amount += amount;
  }

  /** Counts the amounts of keys without a slot in a window, of the largest ones. */
  countRefused(offers: readonly Offer[], slots: number): void {
    for (const { key, amount } of largest(offers, tuning.candidatesPerSlot * slots)) {
      claimOf(this.#candidates, key).amount += amount;
    }
  }

  /** Gives a key that got a slot within a turn the largest claim of its predecessors. */
  inherit(key: string, from: readonly string[]): void {
    this.#candidates.delete(key);
    const [largestClaim] = claimsOf(this.#holders, from);
    this.#holders.set(key, { ...none, ...this.#holders.get(largestClaim?.key ?? '') });
  }

  /** The holder with the smallest claim, of those that may lose their slot. */
  least(holders: Iterable<string>, mayLose: (key: string) => boolean): string | undefined {
    return claimsOf(this.#holders, [...holders].filter(mayLose)).at(-1)?.key;
  }

  /** Makes a holder that was removed a candidate. */
  forget(key: string): void {
    const claim = this.#holders.get(key);
    this.#holders.delete(key);
    if (claim !== undefined && this.isCrowded) this.#candidates.set(key, claim);
  }

  /**
   * Plans the next turn without any change.
   *
   * @param most largest number of keys that get a slot.
   */
  plan(
    holders: Iterable<string>,
    slots: number,
    isFixed: (key: string) => boolean,
    most = Number.POSITIVE_INFINITY,
  ): Turn {
    const held = claimsOf(this.#holders, holders);
    const losing = held.filter(({ key }) => !isFixed(key)).reverse();
    const out = losing.slice(0, Math.max(0, held.length - slots)).map(({ key }) => key);
    const claims = claimsOf(this.#candidates, this.#candidates.keys());
    const asking = claims.filter(({ amount }) => amount >= tuning.minClaim);
    const free = Math.max(0, slots - held.length);
    const entering = new Set(asking.slice(0, Math.min(free, most)).map(({ key }) => key));
    for (const { key, amount } of asking.slice(free)) {
      if (entering.size >= most) break;
      const loser = losing[out.length];
      if (loser === undefined || amount < tuning.factor * loser.amount + this.#margin) break;
      out.push(loser.key);
      entering.add(key);
    }
    return { out, in: entering };
  }

  /** Applies a planned turn. */
  apply({ out, in: entering }: Turn, slots: number): void {
    for (const claims of [this.#holders, this.#candidates]) {
      for (const claim of claims.values()) {
        claim.load = next(claim);
        claim.amount = 0;
      }
    }
    for (const key of entering) move(key, this.#candidates, this.#holders);
    for (const key of out) move(key, this.#holders, this.#candidates);
    const asking = [...this.#candidates].map(([key, { load }]) => ({ key, amount: load }));
    const known = asking.filter(({ amount }) => amount >= tuning.minClaim);
    const kept = largest(known, tuning.candidatesPerSlot * slots);
    this.#candidates = new Map(kept.map(({ key, amount }) => [key, { load: amount, amount: 0 }]));
    if (!this.isCrowded) this.#holders.clear();
  }

  serialize(state: StateArchive): void {
    state.section('admission', 1, () => {
      for (const claims of [this.#holders, this.#candidates]) {
        state.list<[string, Claim]>(claims, (entry) => {
          const key = state.text(entry?.[0] ?? '');
          const claim = serializeFields<Claim>(state, entry?.[1], none);
          claims.set(key, claim);
          return [key, claim];
        });
      }
    });
  }
}

/** The largest offers; all of them in their order if there are no more. */
export function largest<One extends Offer>(offers: readonly One[], count: number): readonly One[] {
  return offers.length <= count ? offers : ranked(offers).slice(0, count);
}

/** Offers sorted by amount, largest first; a hash of the key breaks ties. */
export function ranked<One extends Offer>(offers: readonly One[]): One[] {
  return offers.toSorted(byClaim);
}

/** Claims of keys at the next turn, largest first. */
function claimsOf(claims: ReadonlyMap<string, Claim>, keys: Iterable<string>): Offer[] {
  return ranked(Array.from(keys, (key) => ({ key, amount: next(claims.get(key) ?? none) })));
}

function next({ load, amount }: Claim): number {
  return load * tuning.keptPerTurn + amount;
}

function claimOf(claims: Map<string, Claim>, key: string): Claim {
  let claim = claims.get(key);
  if (claim === undefined) {
    claim = { ...none };
    claims.set(key, claim);
  }
  return claim;
}

function move(key: string, from: Map<string, Claim>, to: Map<string, Claim>): void {
  to.set(key, from.get(key) ?? { ...none });
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
