/** Why a source delivers a record without its value, or with its beginning only. */
export interface RefusedRecord {
  readonly reason: 'undecodable_batch' | 'message_too_large';
  /** One sentence for the dead letter. */
  readonly detail: string;
  /** Length of the value, as far as it is known. */
  readonly originalBytes: number;
}
