import type { AssembleSettings } from '../../assemble/assemble-settings.ts';
import {
  keyAdvice,
  type SpanFormat,
  type TraceReader,
  unreadableAs,
} from '../../assemble/event/span-formats.ts';
import { outcomeOf } from '../../assemble/event/trace-outcome.ts';
import type { TraceRules } from '../../assemble/event/trace-rules.ts';
import { encodeCommitted, type RestartPoint } from '../../assemble/restart-point.ts';
import {
  type ClosedTrace,
  type ClosingCause,
  idText,
  type TraceSpan,
} from '../../assemble/trace.ts';
import { TraceAssembler, type TraceSink } from '../../assemble/trace-assembler.ts';
import type { DecodeSink } from '../../decode/event-decoder.ts';
import { isReadable } from '../../decode/message/readable-message.ts';
import type { RejectReason } from '../../decode/reject-reasons.ts';
import { lowHalfOf } from '../../formats/spans/trace/ids.ts';
import { type DeadLetter, deadLetterBytes } from '../../ingest/letters/dead-letter.ts';
import type { RecordBatch, Records } from '../../source/record.ts';
import type { EventCheck } from './event-check.ts';
import { EventMessages } from './event-messages.ts';
import { letterOfTrace } from './trace-letter.ts';

export interface PartitionAssemblyOptions {
  readonly topic: string;
  readonly partition: number;
  readonly logId: string;
  /** Topic of the events. */
  readonly output: string;
  readonly restart: RestartPoint;
  readonly settings: AssembleSettings;
  readonly rules: TraceRules;
  readonly read: TraceReader;
  readonly format: SpanFormat;
  readonly check: EventCheck;
  readonly maxMessageBytes: number;
}

/** Output that is published at once: all of it or nothing. */
export interface Publication {
  /** Messages for the timing topic: one event a line. */
  readonly events: readonly Buffer[];
  readonly letters: readonly DeadLetter[];
  /** To be committed. */
  readonly offset: number;
  readonly metadata: string;
  readonly counts: AssemblyCounts;
}

/** Counts since the last publication. */
export interface AssemblyCounts {
  spans: number;
  events: number;
  duplicates: number;
  readonly closed: Map<ClosingCause, number>;
  readonly rejected: Map<RejectReason, number>;
}

/**
 * Assembles the traces of one partition and collects what is to be published. It knows no clock and no Kafka:
 * whoever holds it publishes what it gives, in a transaction with the offset, and drops it if that fails.
 */
export class PartitionAssembly implements TraceSink {
  readonly #options: PartitionAssemblyOptions;
  readonly #assembler: TraceAssembler;
  readonly #messages: EventMessages;
  #letters: DeadLetter[] = [];
  #counts = noCounts();
  #hasTicked = false;
  #publishedPosition: number;
  #leaderEpoch = -1;
  #highWatermark = -1;
  /** True if a record had spans of several traces, or another key than its trace id. */
  #hasForeignKeys = false;

  constructor(options: PartitionAssemblyOptions) {
    this.#options = options;
    this.#messages = new EventMessages(options.check, options.maxMessageBytes);
    this.#assembler = new TraceAssembler(options.restart, options.settings, this);
    this.#publishedPosition = options.restart.position;
  }

  /** Offset of the next record to read. */
  get position(): number {
    return this.#assembler.position;
  }

  /** Offset after the last record that was ever read. */
  get knownTo(): number {
    return Math.max(this.position, this.#options.restart.position);
  }

  get openTraces(): number {
    return this.#assembler.openTraces;
  }

  get openBytes(): number {
    return this.#assembler.openBytes;
  }

  /** Messages in the log that have not been read, as far as it is known. */
  get lag(): number {
    return Math.max(0, this.#highWatermark - this.position);
  }

  /** Time of the log: see LogClock. */
  get logTimeMs(): number {
    return this.#assembler.nowMs;
  }

  /** For how long the log's time must have stood still before `tick`; undefined where nothing waits for it. */
  get tickAfterMs(): number | undefined {
    return this.#assembler.tickAfterMs;
  }

  /** Events and letters that wait to be published. */
  get waiting(): number {
    return this.#counts.events + this.#letters.length;
  }

  /** True if there is something to publish: an outcome, or progress alone. */
  get hasProgress(): boolean {
    if (this.#assembler.isRebuilding) return false;
    return this.waiting > 0 || this.#hasTicked || this.position !== this.#publishedPosition;
  }

  /** Takes in records of a batch, up to `most`. Returns false after the last. */
  take(batch: RecordBatch, most: number): boolean {
    const { records } = batch;
    this.#highWatermark = batch.highWatermark;
    for (let left = most; left > 0; left--) {
      if (records.current === undefined) {
        this.#assembler.advanceTo(batch.nextOffset);
        this.#leaderEpoch = batch.leaderEpoch ?? -1;
        return false;
      }
      this.#record(records, records.current);
      records.advance();
    }
    return true;
  }

  /** Moves the log's time at the end of the log, where no record does. */
  tick(): void {
    this.#assembler.tick();
    this.#hasTicked = true;
  }

  /** Returns what is to be published, and keeps none of it. */
  publication(): Publication {
    const restart = this.#assembler.restartPoint();
    const { logId, output } = this.#options;
    const metadata = encodeCommitted({ restart, logId, output, leaderEpoch: this.#leaderEpoch });
    const publication: Publication = {
      events: this.#messages.take(),
      letters: this.#letters,
      offset: restart.offset,
      metadata,
      counts: this.#counts,
    };
    this.#letters = [];
    this.#counts = noCounts();
    this.#hasTicked = false;
    this.#publishedPosition = restart.position;
    return publication;
  }

  closed(trace: ClosedTrace): void {
    this.#counts.duplicates += trace.duplicates;
    count(this.#counts.closed, trace.cause);
    const outcome = outcomeOf(trace, this.#options.rules);
    if ('reason' in outcome) {
      const isKeyless = outcome.reason === 'no_root' && this.#hasForeignKeys;
      const hint = isKeyless ? keyHint(this.#options.format) : '';
      this.#reject(trace, outcome.reason, outcome.detail + hint);
      return;
    }
    const problem = this.#messages.add(outcome.event);
    if (problem === undefined) this.#counts.events++;
    else this.#reject(trace, problem.reason, problem.detail);
  }

  late(traceId: string, { name, idHigh, idLow }: TraceSpan, offset: number, index: number): void {
    const detail = `Spans of a trace must come within assemble.wait, and this one came after its event: ${name.slice(0, 100)}`;
    const bytes = Buffer.from(
      JSON.stringify({ trace_id: traceId, span_id: idText(idHigh, idLow), name }),
    );
    this.#addLetter('late_span', detail, offset, index, bytes);
  }

  #reject(trace: ClosedTrace, reason: RejectReason, detail: string): void {
    this.#addLetter(reason, detail, trace.offset, trace.index, letterOfTrace(trace));
  }

  #addLetter(
    reason: RejectReason,
    detail: string,
    offset: number,
    index: number,
    bytes: Buffer | null,
  ): void {
    count(this.#counts.rejected, reason);
    const { topic, partition, logId } = this.#options;
    const kept = bytes === null ? null : deadLetterBytes(bytes);
    this.#letters.push({
      ...{ topic, partition, logId, offset, index, reason, detail },
      ...{ bytes: kept, originalBytes: bytes?.length ?? 0 },
    });
  }

  #record(records: Records, record: NonNullable<Records['current']>): void {
    const { offset, timestampMs, value, refused } = record;
    this.#assembler.beginRecord(offset, timestampMs);
    if (refused !== undefined) {
      this.#letterOf(offset, 0, refused.reason, refused.detail, value);
    } else if (isReadable(value, this.#options.maxMessageBytes, this.#unreadable(offset, value))) {
      this.#message(records, offset, value);
    }
  }

  /** Receives why a message is not read. */
  #unreadable(offset: number, value: Buffer | null): Pick<DecodeSink, 'reject'> {
    return {
      reject: (index, reason, detail) => this.#letterOf(offset, index, reason, detail, value),
    };
  }

  #message(records: Records, offset: number, value: Buffer): void {
    const { read, format } = this.#options;
    const unreadable = unreadableAs[format];
    let index = 0;
    let traceId = '';
    const problem = read(value, {
      span: (id, span) => {
        if (!this.#assembler.isRebuilding) this.#counts.spans++;
        if (traceId === '') traceId = id;
        else if (traceId !== id && lowHalfOf(traceId) !== lowHalfOf(id))
          this.#hasForeignKeys = true;
        this.#assembler.add(id, span, index++);
      },
      malformed: (detail, origin, reason = unreadable) => {
        this.#letterOf(offset, index++, reason, detail, () => origin.bytes());
      },
    });
    if (problem !== undefined) this.#letterOf(offset, index, unreadable, problem, value);
    // A record without a span says nothing of how spans are keyed.
    const hasSpans = traceId !== '';
    if (hasSpans && !this.#hasForeignKeys && records.key?.() === null) this.#hasForeignKeys = true;
  }

  /** Adds a letter, unless it has been published before. */
  #letterOf(
    offset: number,
    index: number,
    reason: RejectReason,
    detail: string,
    bytes: Buffer | null | (() => Buffer),
  ): void {
    if (this.#assembler.isRebuilding) return;
    this.#addLetter(reason, detail, offset, index, typeof bytes === 'function' ? bytes() : bytes);
  }
}

/** Advice where spans of a trace may lie in several partitions. */
const keyHint = (format: SpanFormat) =>
  ` Records of this topic are not keyed by trace id, so its spans may lie in several partitions: ${keyAdvice(format)}.`;

function noCounts(): AssemblyCounts {
  return { spans: 0, events: 0, duplicates: 0, closed: new Map(), rejected: new Map() };
}

function count<K>(counts: Map<K, number>, key: K): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
