import { dimensions } from '../base/dimensions.ts';
import type { DecodedEvent } from '../decode/decoded-event.ts';
import type { DecodeSink, EventDecoder } from '../decode/event-decoder.ts';
import { Interner } from '../decode/interner.ts';
import { LongTexts } from '../decode/long-texts.ts';
import type { RejectReason } from '../decode/reject-reasons.ts';
import { FoundFields } from '../formats/mapping/found-fields.ts';
import type { ReadHeaders } from '../source/record.ts';
import { Rejects, type RejectsOfReason } from './rejects.ts';

const modelIndex = dimensions.indexOf('model');
/** Names that are listed. */
const mostNames = 8;

/** Summary of a few messages of a topic. */
export interface SampleSummary {
  readonly events: number;
  readonly unmapped: number;
  /** By reason, the most frequent first. */
  readonly rejects: readonly RejectsOfReason[];
  readonly models: readonly string[];
  readonly stages: readonly string[];
  /** Says which optional texts were too long. */
  readonly longTexts: string | undefined;
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
  readonly #rejects = new Rejects();
  readonly #longTexts = new LongTexts();
  #events = 0;
  #unmapped = 0;

  async add(decoder: EventDecoder, message: Buffer | null, headers?: ReadHeaders): Promise<void> {
    if (message !== null) await decoder.prepare?.(message, headers);
    decoder.decode(message, this, headers);
  }

  event(event: DecodedEvent): void {
    this.#events++;
    this.#longTexts.add(event.longTexts);
    this.#models.add(event.dimensionIds[modelIndex] as number);
    for (let i = 0; i < event.stageCount; i++) this.#stageIds.add(event.stageIds[i] as number);
  }

  reject(_index: number, reason: RejectReason, detail: string): void {
    this.#rejects.add(reason, detail);
  }

  skip(count: number): void {
    this.#unmapped += count;
  }

  summary(): SampleSummary {
    return {
      events: this.#events,
      unmapped: this.#unmapped,
      rejects: this.#rejects.list(),
      models: namesOf(this.#models, this.values),
      stages: namesOf(this.#stageIds, this.stages),
      longTexts: this.#longTexts.summary(),
      missing: this.found.missing(),
    };
  }
}

function namesOf(ids: ReadonlySet<number>, interner: Interner): string[] {
  const names = [...ids].slice(0, mostNames).map((id) => interner.text(id));
  return ids.size > mostNames ? [...names, `${ids.size - mostNames} more`] : names;
}
