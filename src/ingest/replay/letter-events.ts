import { type SpanFormat, traceReader, unreadableAs } from '../../assemble/event/span-formats.ts';
import { childrenRules } from '../../assemble/event/trace-rules.ts';
import type { DecodeSink, EventDecoder } from '../../decode/event-decoder.ts';
import { Interner } from '../../decode/interner.ts';
import type { RejectReason } from '../../decode/reject-reasons.ts';
import type { ReadHeaders } from '../../source/record.ts';
import type { TopicFormats } from '../../topics/topic-formats.ts';
import type { ChunkSettings } from '../chunk/chunk-settings.ts';
import type { LetterOrigin } from '../letters/dead-letter.ts';

/** Names do not matter here: those beyond this number are one. */
const NAMES = 64;

/** Reasons of messages of spans none of which was read. */
const unread: ReadonlySet<RejectReason> = new Set([
  ...Object.values(unreadableAs),
  'message_too_large',
]);

type Place = Pick<LetterOrigin, 'topic' | 'index' | 'reason'>;

/** Finds single events in messages, by their position in them, as ingest counts it. */
export class LetterEvents {
  readonly #settings: ChunkSettings;
  readonly #formats: TopicFormats;
  readonly #spanFormats: ReadonlyMap<string, SpanFormat>;
  readonly #decoders = new Map<string, EventDecoder>();

  /**
   * @param settings those of ingest, as a message's limits decide where its events are
   * @param spanFormats of the topics that the role assemble reads
   */
  constructor(
    settings: ChunkSettings,
    formats: TopicFormats,
    spanFormats: ReadonlyMap<string, SpanFormat> = new Map(),
  ) {
    this.#settings = settings;
    this.#formats = formats;
    this.#spanFormats = spanFormats;
  }

  /** Returns the event of a letter, as a separate message; undefined where the message has none there. */
  find(
    message: Buffer,
    { topic, index, reason }: Place,
    headers?: ReadHeaders,
  ): Buffer | undefined {
    if (reason === 'undecodable_batch') return message;
    const spanFormat = this.#spanFormats.get(topic);
    if (spanFormat !== undefined) {
      const isUnread = index === 0 && unread.has(reason) && isReadableAs(spanFormat, message);
      return isUnread ? message : undefined;
    }
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

/**
 * True if all of a message can be read as spans. A message that was read in part must not be sent again, as
 * traces would count twice; its letter is of a span that cannot be read now either.
 */
function isReadableAs(format: SpanFormat, message: Buffer): boolean {
  let isMalformed = false;
  const problem = traceReader(format, childrenRules)(message, {
    span: () => undefined,
    malformed: () => {
      isMalformed = true;
    },
  });
  return problem === undefined && !isMalformed;
}
