/** Problems of the ledger, or of a stored chunk. */
export type LedgerProblemKind =
  /** Offsets without a chunk. */
  | 'gap'
  /** Offsets in two chunks. */
  | 'overlap'
  /** A chunk whose event counts do not add up. */
  | 'conservation'
  /** A chunk that ends where it starts. */
  | 'empty_range'
  /** A chunk with fewer stored samples than counted ones. */
  | 'loss'
  /** A chunk with more. */
  | 'duplicate'
  /** A stored chunk without a ledger row. */
  | 'unrecorded'
  /** Offsets that two groups have counted into one database. */
  | 'counted_twice';

/** A problem and its location. */
export interface LedgerProblem {
  readonly kind: LedgerProblemKind;
  readonly group_id: string;
  readonly topic: string;
  readonly partition: number;
  /** Start of the affected chunk. */
  readonly start_offset: number;
  /** The affected offsets [from_offset, to_offset). */
  readonly from_offset: number;
  readonly to_offset: number;
  /** Offsets (gap, overlap, counted_twice), events (conservation) or samples (the others). */
  readonly amount: number;
  readonly detail: string;
}

/** A problem as the queries in sql/queries/ return it. */
export interface ProblemFacts extends Omit<LedgerProblem, 'detail'> {
  readonly end_offset: number;
  /** The other chunk, or run of chunks, with the same offsets. */
  readonly other_start_offset: number;
  readonly other_end_offset: number;
  readonly other_group_id: string;
  /** Expected and actual amounts, where `amount` is their difference. */
  readonly due: number;
  readonly had: number;
}

/** Adds the description to a problem. */
export function ledgerProblem(facts: ProblemFacts): LedgerProblem {
  const { kind, group_id, topic, partition, start_offset, from_offset, to_offset, amount } = facts;
  const where = { group_id, topic, partition, start_offset, from_offset, to_offset };
  return { kind, ...where, amount, detail: detailOf(facts) };
}

function detailOf(facts: ProblemFacts): string {
  const { from_offset, to_offset, amount, due, had } = facts;
  const range = `[${from_offset}, ${to_offset})`;
  const chunk = `[${facts.start_offset}, ${facts.end_offset})`;
  const other = `[${facts.other_start_offset}, ${facts.other_end_offset})`;
  switch (facts.kind) {
    case 'gap':
      return `offsets ${range} are in no chunk: ${chunk} follows what ended at ${from_offset}`;
    case 'overlap':
      return `offsets ${range} are in two chunks: ${other} and ${chunk}`;
    case 'conservation':
      return `chunk ${chunk}: consumed ${due}, accounted for ${had}`;
    case 'empty_range':
      return `chunk ${chunk} holds no offset`;
    case 'loss':
      return `chunk ${chunk} lacks ${amount} of its ${due} samples`;
    case 'duplicate':
      return `chunk ${chunk} has ${amount} samples too many`;
    case 'unrecorded':
      return `the ${amount} samples of the chunk at offset ${from_offset} are stored, its ledger row is not`;
    case 'counted_twice':
      return `offsets ${range} are counted by group ${facts.other_group_id} as well`;
  }
}
