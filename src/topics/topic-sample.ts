import { dimensions } from '../base/dimensions.ts';
import type { DecodedEvent } from '../decode/decoded-event.ts';
import type { DecodeSink, EventDecoder } from '../decode/event-decoder.ts';
import { Interner } from '../decode/interner.ts';
import type { RejectReason } from '../decode/reject-reasons.ts';
import { FoundFields } from '../formats/mapping/found-fields.ts';
import type { ReadHeaders } from '../source/record.ts';

const modelIndex = dimensions.indexOf('model');
/** Names that are listed. */
const mostNames = 8;

/** What a few messages of a topic are. */
export interface SampleSummary {
  readonly events: number;
  readonly unmapped: number;
  readonly rejected: number;
  /** Most frequent reason, and the detail of the first event that has it. */
  readonly firstReject: { readonly reason: RejectReason; readonly detail: string } | undefined;
  readonly models: readonly string[];
  readonly stages: readonly string[];
  /** Says which fields of the topic's own mapping no record has. */
  readonly missing: string | undefined;
}

/** Decodes messages to say what they are, and counts nothing. */
export class TopicSample implements DecodeSink {
  readonly stages = new Interner(1_000);
  readonly values = new Interner(10_000);
  readonly found = new FoundFields();
  readonly #models = new Set<number>();
  readonly #stageIds = new Set<number>();
  readonly #rejects = new Map<RejectReason, { count: number; detail: string }>();
  #events = 0;
  #unmapped = 0;

  async add(decoder: EventDecoder, message: Buffer | null, headers?: ReadHeaders): Promise<void> {
    if (message !== null) await decoder.prepare?.(message, headers);
    decoder.decode(message, this, headers);
  }

  event(event: DecodedEvent): void {
    this.#events++;
    this.#models.add(event.dimensionIds[modelIndex] as number);
    for (let i = 0; i < event.stageCount; i++) this.#stageIds.add(event.stageIds[i] as number);
  }

  reject(_index: number, reason: RejectReason, detail: string): void {
    const known = this.#rejects.get(reason);
    if (known === undefined) this.#rejects.set(reason, { count: 1, detail });
    else known.count++;
  }

  skip(count: number): void {
    this.#unmapped += count;
  }

  summary(): SampleSummary {
    const rejects = [...this.#rejects].sort(([, a], [, b]) => b.count - a.count);
    const [reason, first] = rejects[0] ?? [];
    return {
      events: this.#events,
      unmapped: this.#unmapped,
      rejected: rejects.reduce((sum, [, { count }]) => sum + count, 0),
      firstReject: reason && first && { reason, detail: first.detail },
      models: namesOf(this.#models, this.values),
      stages: namesOf(this.#stageIds, this.stages),
      missing: this.found.missing(),
    };
  }
}

function namesOf(ids: ReadonlySet<number>, interner: Interner): string[] {
  const names = [...ids].slice(0, mostNames).map((id) => interner.text(id));
  return ids.size > mostNames ? [...names, `${ids.size - mostNames} more`] : names;
}
