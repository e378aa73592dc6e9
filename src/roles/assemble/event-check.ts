import type { Config } from '../../config/schema.ts';
import { Interner } from '../../decode/interner.ts';
import { MessageDecoder } from '../../decode/message/message-decoder.ts';
import type { RejectReason } from '../../decode/reject-reasons.ts';

/** Distinct values that are held at once. */
const VALUES = 100_000;

export interface EventProblem {
  readonly reason: RejectReason;
  readonly detail: string;
}

/** Checks events as ingest will read them, so that none is written that it would reject. */
export class EventCheck {
  readonly #values = new Interner(VALUES);
  readonly #stages = new Interner(VALUES);
  readonly #decoder: MessageDecoder;
  #problem: EventProblem | undefined;

  constructor({ limits }: Pick<Config, 'limits'>) {
    this.#decoder = new MessageDecoder({
      stages: this.#stages,
      values: this.#values,
      maxMessageBytes: limits.max_message_bytes,
      maxDurationMs: limits.max_duration,
      maxDimensionBytes: limits.max_dimension_bytes,
    });
  }

  /** Returns why an event would be rejected; undefined where it would not. */
  problemOf(event: Buffer): EventProblem | undefined {
    if (this.#values.size > VALUES / 2) this.#values.clear();
    if (this.#stages.size > VALUES / 2) this.#stages.clear();
    this.#problem = undefined;
    this.#decoder.decode(event, this);
    return this.#problem;
  }

  event(): void {
    this.#problem = undefined;
  }

  reject(_index: number, reason: RejectReason, detail: string): void {
    this.#problem = { reason, detail };
  }

  skip(): void {}
}
