/** Why a source gives a record without its value: it was not read, or only its beginning. */
export interface RefusedRecord {
  readonly reason: 'undecodable_batch' | 'message_too_large';
  /** One sentence for the dead letter. */
  readonly detail: string;
  /** Length of the value, as far as that is known. */
  readonly originalBytes: number;
}
