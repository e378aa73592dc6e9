import type { EventDraft } from '../../format-reader.ts';
import type { Span } from '../../span.ts';
import type { CallKind, Preset } from '../presets/preset.ts';
import { callOf } from '../span-events.ts';
import { SpanLinks } from './span-links.ts';

/**
 * Which of some spans are calls that other instrumentation of theirs has traced too, as spans inside of them.
 * The innermost call counts: its time is the model's.
 */
export class NestedCalls {
  readonly #spans: readonly Span[];
  readonly #presets: readonly Preset[];
  readonly #finish: (event: EventDraft, span: Span) => EventDraft;
  readonly #links = new SpanLinks();
  readonly #isLinked: boolean;
  /** Kinds of the calls that would be events; undefined: not asked yet. */
  readonly #events: (CallKind | 'none')[] = [];

  /** @param finish as in `emitSpan`. */
  constructor(
    spans: readonly Span[],
    presets: readonly Preset[],
    finish: (event: EventDraft, span: Span) => EventDraft = (event) => event,
  ) {
    this.#spans = spans;
    this.#presets = presets;
    this.#finish = finish;
    for (const span of spans) this.#links.add(span);
    this.#isLinked = this.#links.link();
  }

  /** True if a span is a call around one for the same thing that is an event. @param index its place. */
  isOuter(index: number): boolean {
    if (!this.#isLinked || !this.#links.hasChildren(index)) return false;
    const kind = callOf(this.#spans[index] as Span, this.#presets)?.kind;
    if (kind === undefined) return false;
    return this.#links.isAbove(index, (below) => this.#eventOf(below) === kind);
  }

  #eventOf(index: number): CallKind | 'none' {
    const span = this.#spans[index] as Span;
    this.#events[index] ??= callOf(span, this.#presets)?.eventKind(this.#finish) ?? 'none';
    return this.#events[index] as CallKind | 'none';
  }
}
