import { Interner } from '../../decode/interner.ts';
import { MessageDecoder } from '../../decode/message-decoder.ts';
import type { ChunkSettings } from '../chunk-settings.ts';

/** Names do not matter here: those beyond so many are one. */
const NAMES = 64;

/**
 * Finds single events in messages, by their position in them, as ingest counts it.
 *
 * @param settings those of ingest, as a message's limits decide where its events are
 */
export class LetterEvents {
  readonly #decoder: MessageDecoder;

  constructor(settings: ChunkSettings) {
    const [stages, values] = [new Interner(NAMES), new Interner(NAMES)];
    this.#decoder = new MessageDecoder({ ...settings, stages, values });
  }

  /** Returns the event at an index; undefined where the message has none there. */
  find(message: Buffer, index: number): Buffer | undefined {
    let found: Buffer | undefined;
    let at = 0;
    const keep = (own: number, start: number, end: number) => {
      at = own + 1;
      if (own === index) found = message.subarray(start, end);
    };
    this.#decoder.decode(message, {
      event: (_, start, end) => keep(at, start, end),
      reject: (own, _reason, _detail, start, end) => keep(own, start, end),
      skip: (count) => {
        at += count;
      },
    });
    return found;
  }
}
