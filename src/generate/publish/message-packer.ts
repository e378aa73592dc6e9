import type { OutgoingMessage } from '../../kafka/client/publisher.ts';

/** Placeholder for lines that belong to no source. */
const NO_KEY = '';

/**
 * Packs lines into messages of NDJSON, a message per key, so that a source's order survives the partitions.
 * At most `perMessage - 1` lines wait per key, until `flush`.
 */
export class MessagePacker {
  readonly #perMessage: number;
  readonly #open = new Map<string, string[]>();
  #waiting = 0;

  constructor(perMessage: number) {
    this.#perMessage = perMessage;
  }

  /** Lines in messages that are not full yet. */
  get waitingCount(): number {
    return this.#waiting;
  }

  /** Adds a line; returns the message that it completes. */
  add(key: string | undefined, line: string): OutgoingMessage | undefined {
    if (this.#perMessage === 1) return message(key ?? NO_KEY, line);
    this.#waiting++;
    const lines = this.#open.get(key ?? NO_KEY);
    if (lines === undefined) {
      this.#open.set(key ?? NO_KEY, [line]);
      return undefined;
    }
    lines.push(line);
    if (lines.length < this.#perMessage) return undefined;
    this.#open.delete(key ?? NO_KEY);
    this.#waiting -= lines.length;
    return message(key ?? NO_KEY, lines.join('\n'));
  }

  /** Returns the messages that are not full yet, in the order in which they were started. */
  flush(): OutgoingMessage[] {
    const messages = [...this.#open].map(([key, lines]) => message(key, lines.join('\n')));
    this.#open.clear();
    this.#waiting = 0;
    return messages;
  }
}

function message(key: string, value: string): OutgoingMessage {
  return key === NO_KEY ? { value } : { key, value };
}
