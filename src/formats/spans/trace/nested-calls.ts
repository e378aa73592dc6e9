import type { EventDraft } from '../../format-reader.ts';
import type { Span } from '../../span.ts';
import type { CallKind } from '../presets/preset.ts';
import type { SpanInterpreter } from '../rules/span-interpreter.ts';
import { SpanLinks } from './span-links.ts';

/**
 * Which of some spans are calls that other instrumentation of theirs has traced too, as spans inside of them.
 * The innermost call counts: its time is the model's.
 */
export class NestedCalls {
  readonly #spans: readonly Span[];
  readonly #interpreter: SpanInterpreter;
  readonly #finish: (event: EventDraft, span: Span) => EventDraft;
  readonly #links = new SpanLinks();
  readonly #isLinked: boolean;
  /** Kinds of the calls that would be events; undefined: not asked yet. */
  readonly #events: (CallKind | 'none')[] = [];

  /** @param finish as in `PresetInterpreter.emit`. */
  constructor(
    spans: readonly Span[],
    interpreter: SpanInterpreter,
    finish: (event: EventDraft, span: Span) => EventDraft = (event) => event,
  ) {
    this.#spans = spans;
    this.#interpreter = interpreter;
    this.#finish = finish;
    for (const span of spans) this.#links.add(span);
    this.#isLinked = this.#links.link();
  }

  /** True if a span is a call around one for the same thing that is an event. @param index its place. */
  isOuter(index: number): boolean {
    if (!this.#isLinked || !this.#links.hasChildren(index)) return false;
    const interpreter = this.#interpreter.of(this.#spans[index] as Span);
    const preset = interpreter.preset();
    if (preset === undefined) return false;
    const kind = interpreter.kindOf(preset);
    return this.#links.isAbove(index, (below) => this.#eventOf(below) === kind);
  }

  #eventOf(index: number): CallKind | 'none' {
    this.#events[index] ??= this.#eventKindOf(this.#spans[index] as Span) ?? 'none';
    return this.#events[index] as CallKind | 'none';
  }
  #eventKindOf(span: Span): CallKind | undefined {
    const interpreter = this.#interpreter.of(span);
    const preset = interpreter.preset();
    return preset && interpreter.eventKindOf(preset, (event) => this.#finish(event, span));
  }
}
