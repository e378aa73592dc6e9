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
    const source = key ?? NO_KEY;
    if (this.#perMessage === 1) return message(source, line);
    const lines = this.#open.get(source) ?? [];
    lines.push(line);
    this.#waiting++;
    if (lines.length < this.#perMessage) {
      this.#open.set(source, lines);
      return undefined;
    }
    this.#open.delete(source);
    this.#waiting -= lines.length;
    return message(source, lines.join('\n'));
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
