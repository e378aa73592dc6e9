import type { Clock } from '../../base/clock.ts';
import { minuteMs } from '../../base/time.ts';
import type { OutgoingMessage } from '../../kafka/client/publisher.ts';
import { MessagePacker } from './message-packer.ts';

/** A line to send, and the time at which it is due. */
export interface TimedLine {
  /** On the axis of event time; undefined: due as soon as the lines before it. */
  readonly dueMs: number | undefined;
  /** Lines of one key keep their order. */
  readonly key: string | undefined;
  /** Text is packed with other lines of its key; invalid UTF-8 is a separate message. */
  readonly line: string | Buffer;
}

/** Mapping from event time to wall time, and its speed. */
export interface Pace {
  /** Event time per wall time; infinite: as fast as possible. */
  readonly speed: number;
  /** Event time that is due at `wallMs`; undefined: that of the first line with a time. */
  readonly eventMs: number | undefined;
  readonly wallMs: number;
}

export interface SendPacedOptions {
  readonly lines: Iterable<readonly TimedLine[]> | AsyncIterable<readonly TimedLine[]>;
  /** Awaited before more lines are read: the back-pressure. */
  readonly send: (messages: readonly OutgoingMessage[]) => Promise<void>;
  readonly perMessage: number;
  readonly pace: Pace;
  readonly clock: Pick<Clock, 'nowMs' | 'sleep'>;
  /** Stops before the next line; lines already read are still sent. */
  readonly signal: AbortSignal;
  /** Called after each batch that was sent. */
  readonly onSent?: (sent: Sent) => void;
}

/** Counts of messages that `send` has sent. */
export interface Sent {
  readonly lines: number;
  readonly messages: number;
  readonly bytes: number;
  /** Due time of the last line sent that has a time. */
  readonly lastDueMs: number | undefined;
}

const BATCH_MESSAGES = 1_000;
const BATCH_BYTES = 1_000_000;
/** Lines due within this time are sent together; otherwise a busy stream would be sent line by line. */
const COALESCE_MS = 50;
/** Longest event time for which a line waits for others in its message. */
const PACK_MS = 1_000;
/** Longest single wait: timers are 32 bits wide. */
const LONGEST_SLEEP_MS = minuteMs;

/**
 * Sends lines when they are due, in batches of up to 1,000 messages or 1 MB. Lines that are late
 * go out at once; between two that are apart, everything held is sent first.
 */
export async function sendPaced(options: SendPacedOptions): Promise<Sent> {
  const batch = new Batch(options);
  const { clock, signal, pace } = options;
  let eventMs = pace.eventMs;
  for await (const group of options.lines) {
    for (const line of group) {
      if (signal.aborted) break;
      if (line.dueMs !== undefined && pace.speed !== Number.POSITIVE_INFINITY) {
        eventMs ??= line.dueMs;
        const atMs = pace.wallMs + (line.dueMs - eventMs) / pace.speed;
        let waitMs = atMs - clock.nowMs();
        if (waitMs > 0) await batch.send();
        for (; waitMs > 0 && !signal.aborted; waitMs = atMs - clock.nowMs()) {
          await clock.sleep(Math.min(LONGEST_SLEEP_MS, Math.max(COALESCE_MS, waitMs)), signal);
        }
        if (signal.aborted) break;
      }
      if (batch.add(line)) await batch.sendFull();
    }
    if (signal.aborted) break;
  }
  await batch.send();
  return batch.sent;
}

class Batch {
  readonly #options: SendPacedOptions;
  readonly #packer: MessagePacker;
  #messages: OutgoingMessage[] = [];
  #bytes = 0;
  #lines = 0;
  /** Event time of the first line in the packer. */
  #packingSinceMs = 0;
  #lastDueMs: number | undefined;
  sent: Sent = { lines: 0, messages: 0, bytes: 0, lastDueMs: undefined };

  constructor(options: SendPacedOptions) {
    this.#options = options;
    this.#packer = new MessagePacker(options.perMessage);
  }

  /** Adds a line; returns true when there is enough for a batch. */
  add({ dueMs, key, line }: TimedLine): boolean {
    this.#lines++;
    if (dueMs !== undefined) this.#lastDueMs = dueMs;
    if (typeof line === 'string') this.#pack(dueMs, key, line);
    else this.#push({ value: line });
    return this.#messages.length >= BATCH_MESSAGES || this.#bytes >= BATCH_BYTES;
  }

  /** Sends the messages that are full; other lines keep waiting for lines of their key. */
  async sendFull(): Promise<void> {
    if (this.#messages.length === 0) return;
    const messages = this.#messages;
    const bytes = this.#bytes;
    const lines = this.#lines - this.#packer.waitingCount;
    const lastDueMs = this.#lastDueMs;
    this.#messages = [];
    this.#bytes = 0;
    await this.#options.send(messages);
    this.sent = {
      lines,
      messages: this.sent.messages + messages.length,
      bytes: this.sent.bytes + bytes,
      lastDueMs,
    };
    this.#options.onSent?.(this.sent);
  }

  async send(): Promise<void> {
    for (const message of this.#packer.flush()) this.#push(message);
    await this.sendFull();
  }

  #pack(dueMs: number | undefined, key: string | undefined, line: string): void {
    const nowMs = dueMs ?? this.#packingSinceMs;
    if (this.#packer.waitingCount === 0) this.#packingSinceMs = nowMs;
    const full = this.#packer.add(key, line);
    if (full !== undefined) this.#push(full);
    if (nowMs - this.#packingSinceMs < PACK_MS) return;
    for (const message of this.#packer.flush()) this.#push(message);
  }

  #push(message: OutgoingMessage): void {
    this.#messages.push(message);
    this.#bytes += message.value === null ? 0 : Buffer.byteLength(message.value);
  }
}
