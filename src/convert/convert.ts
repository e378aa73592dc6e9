import { rejectionOf } from '../decode/decode-event.ts';
import { LongTexts, longTextsOf } from '../decode/long-texts.ts';
import { type TimingEventLimits, timingEvent } from '../decode/timing-event.ts';
import type { DraftSink, EventDraft, Origin } from '../formats/format-reader.ts';

export interface Rejected {
  readonly reason: string;
  /** One sentence: the field, the rule and the value. */
  readonly detail: string;
  readonly origin: Origin;
}

/** Checks what a format made of files, counts it, and hands it on. */
export class Converter implements DraftSink {
  events = 0;
  rejected = 0;
  /** Spans or records that no rule maps to an event, by intent. */
  skipped = 0;
  /** Optional texts of events that are too long: what reads the events leaves them out. */
  readonly longTexts = new LongTexts();
  /** Rejected ones by reason. */
  readonly reasons = new Map<string, number>();
  readonly #contract: ReturnType<typeof timingEvent>;
  readonly #onEvent: (event: EventDraft) => void;
  readonly #onRejected: (rejected: Rejected) => void;
  readonly #weight: number | undefined;

  /** @param weight requests that an event stands for that does not say it. @default {1} */
  constructor(
    limits: TimingEventLimits,
    onEvent: (event: EventDraft) => void,
    onRejected: (rejected: Rejected) => void,
    weight?: number,
  ) {
    this.#contract = timingEvent(limits);
    this.#onEvent = onEvent;
    this.#onRejected = onRejected;
    this.#weight = weight;
  }

  draft(given: EventDraft, origin: Origin): void {
    const isWeighted = this.#weight !== undefined && given.weight === undefined;
    const event = isWeighted ? { ...given, weight: this.#weight } : given;
    const { error, data } = this.#contract.safeParse(event);
    if (error === undefined) {
      this.events++;
      this.longTexts.add(longTextsOf(event, data));
      this.#onEvent(event);
      return;
    }
    const { reason, detail } = rejectionOf(error, event);
    this.reject(reason, detail, origin);
  }

  reject(reason: string, detail: string, origin: Origin): void {
    this.rejected++;
    this.reasons.set(reason, (this.reasons.get(reason) ?? 0) + 1);
    this.#onRejected({ reason, detail, origin });
  }

  skip(count: number): void {
    this.skipped += count;
  }
}
