import type { DraftSink, EventDraft, Origin } from '../../formats/format-reader.ts';
import type { Span } from '../../formats/span.ts';
import { spanPresets } from '../../formats/spans/presets/span-presets.ts';
import { SpanInterpreter } from '../../formats/spans/rules/span-interpreter.ts';
import type { SpanReader } from '../../formats/spans/span-reader.ts';
import { NestedCalls } from '../../formats/spans/trace/nested-calls.ts';
import type { ConvertOptions, InputFile } from '../file-format.ts';
import { jsonValues, tooLongValue } from '../json-values.ts';

/** A format's reader of spans, and its rules. */
export interface SpanForm {
  readonly read: SpanReader;
  /** Beginning of a line that cannot be inside another value. */
  readonly start?: string;
  /** Says what a format knows better than the presets. */
  readonly finish?: (event: EventDraft, span: Span) => EventDraft;
}

/** Longest part of a text that cannot be read which goes into a dead letter. */
const maxCharsKept = 64 * 1024;
/** Spans of a file that are held at least until it is known what is below them, and their characters. */
const HELD_SPANS = 20_000;
const HELD_CHARS = 32 * 1024 * 1024;

/**
 * Converts files of spans, each a separate event or none. `--model` is that of spans which name none. A call
 * around one that counts is none; of a large file this is seen within `HELD_SPANS`.
 */
export async function convertSpans(
  files: readonly InputFile[],
  { read, start, finish = (event) => event }: SpanForm,
  { model }: ConvertOptions,
  sink: DraftSink,
): Promise<void> {
  const complete = (event: EventDraft, span: Span) => {
    const finished = finish(event, span);
    return { ...finished, model: finished.model ?? model };
  };
  const interpreter = new SpanInterpreter(spanPresets());
  for (const file of files) {
    const held = new HeldSpans(interpreter, complete, sink);
    for await (const text of jsonValues(file.open(), start)) {
      const kept = () => Buffer.from((text ?? '').slice(0, maxCharsKept));
      const problem =
        text === undefined
          ? tooLongValue
          : read(text, {
              span: (span, origin) => held.add({ span, origin }),
              malformed: (detail, origin) => held.add({ detail, origin }),
            });
      if (problem !== undefined) held.add({ detail: problem, origin: { bytes: kept } });
      held.addChars(text?.length ?? 0);
    }
    held.end();
  }
}

/** A span of a file, or what stands where one should. */
type Held =
  | { readonly span: Span; readonly origin: Origin }
  | { readonly detail: string; readonly origin: Origin };

/** Spans of a file in their order, of which the older part is handed on when there are many. */
class HeldSpans {
  readonly #interpreter: SpanInterpreter;
  readonly #finish: (event: EventDraft, span: Span) => EventDraft;
  readonly #sink: DraftSink;
  #held: Held[] = [];
  /** Those of the older part, and the characters that the younger one was read from. */
  #olderCount = 0;
  #chars = 0;

  constructor(
    interpreter: SpanInterpreter,
    finish: (event: EventDraft, span: Span) => EventDraft,
    sink: DraftSink,
  ) {
    this.#interpreter = interpreter;
    this.#finish = finish;
    this.#sink = sink;
  }

  add(one: Held): void {
    this.#held.push(one);
  }

  /** Ends a part of the file that was read as a whole. */
  addChars(count: number): void {
    this.#chars += count;
    const youngerCount = this.#held.length - this.#olderCount;
    if (youngerCount < HELD_SPANS && this.#chars < HELD_CHARS) return;
    this.#handOn(this.#olderCount);
    this.#olderCount = this.#held.length;
    this.#chars = 0;
  }

  end(): void {
    this.#handOn(this.#held.length);
  }

  /** Hands on the first ones, by all that are held. */
  #handOn(count: number): void {
    const spans = this.#held.flatMap((one) => ('span' in one ? one.span : []));
    const calls = new NestedCalls(spans, this.#interpreter, this.#finish);
    let place = 0;
    for (const one of this.#held.slice(0, count)) {
      if (!('span' in one)) this.#sink.reject('invalid_line', one.detail, one.origin);
      else if (calls.isOuter(place++)) this.#sink.skip(1);
      else {
        const finish = (event: EventDraft) => this.#finish(event, one.span);
        this.#interpreter.of(one.span).emit(one.origin, this.#sink, finish);
      }
    }
    this.#held = this.#held.slice(count);
  }
}
