import type { RejectReason } from '../decode/reject-reasons.ts';

/**
 * A timing event as the reader of a format makes it: fields of JSON v1 (docs/reference/event.md), unchecked.
 * The contract checks it afterwards, so a reader passes on what it found, and `undefined` for what is absent.
 */
export interface EventDraft {
  readonly ts?: number | string | undefined;
  readonly model?: string | undefined;
  readonly total_ms?: number | undefined;
  readonly stages_ms?: Readonly<Record<string, number>> | undefined;
  readonly milestones_ms?: Readonly<Record<string, number>> | undefined;
  readonly itl_ms?: readonly number[] | undefined;
  readonly [field: string]: unknown;
}

/** Reason beyond those of topics: a line of a file that cannot be read. */
export type FormatReason = 'invalid_line';

/** Source of a part of a message: a smaller message that would be read in the same way. */
export interface Origin {
  /** Called for a dead letter only, so it may copy. */
  bytes(): Buffer;
}

/** Receives what is in a message, in order. Each of them counts as one consumed event. */
export interface DraftSink {
  /** Receives one event. */
  draft(event: EventDraft, origin: Origin): void;
  /** Receives what cannot be an event. @param detail one sentence: the field, the rule and the value found. */
  reject(reason: RejectReason | FormatReason, detail: string, origin: Origin): void;
  /** Receives the number of spans or records that no rule maps to an event, by intent. */
  skip(count: number): void;
}
