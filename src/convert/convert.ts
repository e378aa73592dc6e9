import type { TimingEventLimits } from '../decode/timing-event.ts';
import { DraftCheck } from '../formats/draft-check.ts';
import type { DraftSink, EventDraft, Origin } from '../formats/format-reader.ts';

export interface Rejected {
  readonly reason: string;
  /** One sentence: the field, the rule and the value. */
  readonly detail: string;
  readonly origin: Origin;
}

/** What became of the contents of files. */
export interface ConvertCounts {
  events: number;
  rejected: number;
  /** Spans or records that no rule maps to an event, by intent. */
  skipped: number;
  /** Rejected ones by reason. */
  readonly reasons: Map<string, number>;
}

/** Checks what a format made of files, counts it, and hands it on. */
export class Converter implements DraftSink {
  readonly counts: ConvertCounts = { events: 0, rejected: 0, skipped: 0, reasons: new Map() };
  readonly #check: DraftCheck;
  readonly #onEvent: (event: EventDraft) => void;
  readonly #onRejected: (rejected: Rejected) => void;

  constructor(
    limits: TimingEventLimits,
    onEvent: (event: EventDraft) => void,
    onRejected: (rejected: Rejected) => void,
  ) {
    this.#check = new DraftCheck(limits);
    this.#onEvent = onEvent;
    this.#onRejected = onRejected;
  }

  draft(event: EventDraft, origin: Origin): void {
    const rejection = this.#check.rejectionOf(event);
    if (rejection !== undefined) {
      this.reject(rejection.reason, rejection.detail, origin);
      return;
    }
    this.counts.events++;
    this.#onEvent(event);
  }

  reject(reason: string, detail: string, origin: Origin): void {
    const { counts } = this;
    counts.rejected++;
    counts.reasons.set(reason, (counts.reasons.get(reason) ?? 0) + 1);
    this.#onRejected({ reason, detail, origin });
  }

  skip(count: number): void {
    this.counts.skipped += count;
  }
}
