/** What can be wrong with the ledger, or with what is stored of a chunk. */
export type LedgerProblemKind =
  /** Offsets that no chunk has. */
  | 'gap'
  /** Offsets that two chunks have. */
  | 'overlap'
  /** A chunk whose events do not add up. */
  | 'conservation'
  /** A chunk that ends where it starts. */
  | 'empty_range'
  /** A chunk that has fewer samples stored than were counted. */
  | 'loss'
  /** A chunk that has more. */
  | 'duplicate'
  /** A chunk whose rows are stored, and that the ledger passed over. */
  | 'unrecorded'
  /** Offsets that two groups have counted into one database. */
  | 'counted_twice';

/** Something that is wrong, and where. */
export interface LedgerProblem {
  readonly kind: LedgerProblemKind;
  readonly group_id: string;
  readonly topic: string;
  readonly partition: number;
  /** Where the chunk starts in which it shows. */
  readonly start_offset: number;
  /** The offsets that are missing, double, or wrongly stored: [from_offset, to_offset). */
  readonly from_offset: number;
  readonly to_offset: number;
  /** How much: offsets (gap, overlap, counted_twice), events (conservation), samples (the rest). */
  readonly amount: number;
  readonly detail: string;
}

/** What tells one problem, as the queries of sql/queries/ find it. */
export interface ProblemFacts extends Omit<LedgerProblem, 'detail'> {
  readonly end_offset: number;
  /** The other chunk, or run of chunks, that has the same offsets. */
  readonly other_start_offset: number;
  readonly other_end_offset: number;
  readonly other_group_id: string;
  /** What there should be, and what there is, where amount is their difference. */
  readonly due: number;
  readonly had: number;
}

/** A problem with its words. */
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
