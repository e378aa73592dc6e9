import type { ReadHeaders } from '../source/record.ts';
import type { DecodedEvent } from './decoded-event.ts';
import type { Interner } from './interner.ts';
import type { RejectReason } from './reject-reasons.ts';
import type { TimingEventLimits } from './timing-event.ts';

/** Limits of a decoder, and the interners whose ids its events have. */
export interface DecoderOptions extends TimingEventLimits {
  readonly stages: Interner;
  readonly values: Interner;
  readonly maxMessageBytes: number;
}

/** Receives what is in a message, in order; each of it counts as consumed. */
export interface DecodeSink {
  /** Receives a valid event, at `[start, end)` in the message. The next one overwrites it. */
  event(event: DecodedEvent, start: number, end: number): void;
  /**
   * Receives a rejected event, or a rejected message or the rest of one. `index` is its position among the
   * message's events, `[start, end)` its bytes in the message.
   */
  reject(index: number, reason: RejectReason, detail: string, start: number, end: number): void;
  /** Receives the number of spans or records that are no event by intent: no rule maps them. */
  skip(count: number): void;
}

/** Reads the messages of a topic in its format. Content never makes it throw. */
export interface EventDecoder {
  /**
   * Decodes a message; returns the number consumed: events, rejected ones, and those that are none by intent.
   *
   * @param headers of its record, for formats that need them. Absent where it has none.
   */
  decode(message: Buffer | null, sink: DecodeSink, headers?: ReadHeaders): number;
  /**
   * Returns what stands at `[start, end)` as a separate message, which is read again as it was. To be called
   * within `event` or `reject`, for dead letters. It may be a part of `message`: copy it to keep it.
   */
  letter(message: Buffer, start: number, end: number): Buffer;
  /** Fetches what must be there before the message can be decoded; undefined where it is there. */
  prepare?(message: Buffer, headers?: ReadHeaders): Promise<void> | undefined;
}
