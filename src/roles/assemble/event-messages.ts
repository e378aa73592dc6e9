import type { EventDraft } from '../../formats/format-reader.ts';
import type { EventCheck, EventProblem } from './event-check.ts';

/** Bytes of a message of several events: a message costs much more than an event. */
const MESSAGE_BYTES = 64 * 1024;
/** Bytes of a UTF-16 unit in UTF-8, at most. */
const UNIT_BYTES = 3;
const NEWLINE = 0x0a;

/** Writes events as messages for the timing topic, one event a line. Each is checked as ingest will read it. */
export class EventMessages {
  readonly #check: EventCheck;
  readonly #bytes: Buffer;
  #length = 0;
  #full: Buffer[] = [];

  /** @param maxMessageBytes of a message that ingest reads. */
  constructor(check: EventCheck, maxMessageBytes: number) {
    this.#check = check;
    this.#bytes = Buffer.allocUnsafe(Math.min(MESSAGE_BYTES, maxMessageBytes));
  }

  /** Adds an event, or returns why ingest would reject it. */
  add(event: EventDraft): EventProblem | undefined {
    const line = JSON.stringify(event);
    const most = line.length * UNIT_BYTES;
    if (most > this.#bytes.length) return this.#addLarge(Buffer.from(line));
    if (this.#length + 1 + most > this.#bytes.length) this.#endMessage();
    const start = this.#length === 0 ? 0 : this.#length + 1;
    const end = start + this.#bytes.write(line, start);
    const problem = this.#check.problemOf(this.#bytes.subarray(start, end));
    if (problem !== undefined) return problem;
    if (start > 0) this.#bytes[start - 1] = NEWLINE;
    this.#length = end;
    return undefined;
  }

  /** Returns the messages, and keeps none of them. */
  take(): Buffer[] {
    this.#endMessage();
    const messages = this.#full;
    this.#full = [];
    return messages;
  }

  #addLarge(bytes: Buffer): EventProblem | undefined {
    const problem = this.#check.problemOf(bytes);
    if (problem !== undefined) return problem;
    this.#endMessage();
    this.#full.push(bytes);
    return undefined;
  }

  #endMessage(): void {
    if (this.#length === 0) return;
    this.#full.push(Buffer.from(this.#bytes.subarray(0, this.#length)));
    this.#length = 0;
  }
}
