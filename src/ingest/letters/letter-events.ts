import type { DecodeSink, EventDecoder } from '../../decode/event-decoder.ts';
import { Interner } from '../../decode/interner.ts';
import type { ReadHeaders } from '../../source/record.ts';
import type { TopicFormats } from '../../topics/topic-formats.ts';
import type { ChunkSettings } from '../chunk-settings.ts';

/** Names do not matter here: those beyond so many are one. */
const NAMES = 64;

/** Finds single events in messages, by their position in them, as ingest counts it. */
export class LetterEvents {
  readonly #settings: ChunkSettings;
  readonly #formats: TopicFormats;
  readonly #decoders = new Map<string, EventDecoder>();

  /** @param settings those of ingest, as a message's limits decide where its events are */
  constructor(settings: ChunkSettings, formats: TopicFormats) {
    this.#settings = settings;
    this.#formats = formats;
  }

  /** Returns the event at an index, as a message of its own; undefined where the message has none there. */
  find(topic: string, message: Buffer, index: number, headers?: ReadHeaders): Buffer | undefined {
    if (this.#formats.holdsSingleRecords(topic)) return index === 0 ? message : undefined;
    const decoder = this.#decoderOf(topic);
    let found: Buffer | undefined;
    let at = 0;
    const keep = (own: number, start: number, end: number) => {
      at = own + 1;
      if (own === index) found = decoder.letter(message, start, end);
    };
    const sink: DecodeSink = {
      event: (_, start, end) => keep(at, start, end),
      reject: (own, _reason, _detail, start, end) => keep(own, start, end),
      skip: (count) => {
        at += count;
      },
    };
    decoder.decode(message, sink, headers);
    return found;
  }

  #decoderOf(topic: string): EventDecoder {
    const known = this.#decoders.get(topic);
    if (known !== undefined) return known;
    const [stages, values] = [new Interner(NAMES), new Interner(NAMES)];
    const decoder = this.#formats.decoderOf(topic, { ...this.#settings, stages, values });
    this.#decoders.set(topic, decoder);
    return decoder;
  }
}
