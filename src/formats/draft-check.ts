import type { DecodeContext, Rejection } from '../decode/decode-event.ts';
import { decodeValue } from '../decode/decode-event.ts';
import { DecodedEvent } from '../decode/decoded-event.ts';
import { Interner } from '../decode/interner.ts';
import { type TimingEventLimits, timingEvent } from '../decode/timing-event.ts';
import type { EventDraft } from './format-reader.ts';

/** Names that are held before they are forgotten. */
const MAX_NAMES = 4_096;

/** Checks drafts by the contract of timing events, for those that are written and not counted. Some µs each. */
export class DraftCheck {
  readonly #context: DecodeContext;
  readonly #decoded = new DecodedEvent();

  constructor(limits: TimingEventLimits) {
    const interner = () => new Interner(MAX_NAMES);
    this.#context = { contract: timingEvent(limits), stages: interner(), values: interner() };
  }

  /** Returns why a draft is no timing event, or undefined where it is one. */
  rejectionOf(draft: EventDraft): Rejection | undefined {
    const { stages, values } = this.#context;
    for (const each of [stages, values]) if (each.size >= MAX_NAMES) each.clear();
    return decodeValue(draft, this.#context, this.#decoded);
  }
}
