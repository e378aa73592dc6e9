import type { Attributes, AttributeValue, Span } from '../../span.ts';
import { type AskedNames, exceptionEvent } from './asked-names.ts';
import { eachGap } from './each-gap.ts';

/** Kinds of an attribute's value; `none` also stands for a list, a map or bytes. */
export const valueKinds = { none: 0, text: 1, bool: 2, number: 3 } as const;

/** A text that rules compare with, and its bytes. */
export interface KnownText {
  readonly text: string;
  readonly bytes: Buffer;
}

/** Values of the span at hand that rules ask for. Attributes and events have the indices of `AskedNames`. */
export interface SpanValues {
  /** Whole milliseconds since the epoch; NaN without a time. */
  readonly startMs: number;
  readonly endIsSet: boolean;
  /** Exact to a nanosecond; negative if it ends before it starts, NaN without start or end. */
  readonly durationMs: number;
  readonly statusCode: number;
  readonly name: string;
  /** As in `Span`. */
  readonly traceId: string;
  readonly traceState: string;
  /** Returns one of `valueKinds`. */
  kindOf(key: number): number;
  /** True for a text that is not empty. */
  hasText(key: number): boolean;
  /** Returns the value where it is a text. */
  textOf(key: number): string;
  /** Returns the value where it is a number, and 0 or 1 where it is a boolean. */
  numberOf(key: number): number;
  /** True if the value, a text, is one of these, or ends with one of them unless `isWhole`. */
  isOneOf(key: number, texts: readonly KnownText[], isWhole: boolean): boolean;
  /** Returns milliseconds from the start to the earliest event of a name; NaN without one. */
  eventMs(name: number): number;
  /** Hands on the milliseconds between the events of a name in `AskedNames.series`; returns their number. */
  eachGap(name: number, add: (ms: number) => void): number;
  /** Returns the type of the last exception among the events, as text; undefined without one. */
  exceptionType(): string | undefined;
  resourceValue(key: number): AttributeValue | undefined;
}

/** Values of a span that was read as a whole. */
export class ValuesOfSpan implements SpanValues {
  readonly #names: AskedNames;
  #span: Span | undefined;

  constructor(names: AskedNames) {
    this.#names = names;
  }

  /** Begins with a span. */
  begin(span: Span): this {
    this.#span = span;
    return this;
  }

  get startMs(): number {
    return this.#given.startMs ?? Number.NaN;
  }

  get endIsSet(): boolean {
    return this.#given.endIsSet;
  }

  get durationMs(): number {
    return this.#given.durationMs ?? Number.NaN;
  }

  get statusCode(): number {
    return this.#given.statusCode;
  }

  get name(): string {
    return this.#given.name;
  }

  get traceId(): string {
    return this.#given.traceId;
  }

  get traceState(): string {
    return this.#given.traceState;
  }

  kindOf(key: number): number {
    const value = this.#valueOf(key);
    if (value === undefined) return valueKinds.none;
    if (typeof value === 'string') return valueKinds.text;
    return typeof value === 'boolean' ? valueKinds.bool : valueKinds.number;
  }

  hasText(key: number): boolean {
    return this.textOf(key) !== '';
  }

  textOf(key: number): string {
    const value = this.#valueOf(key);
    return typeof value === 'string' ? value : '';
  }

  numberOf(key: number): number {
    return Number(this.#valueOf(key));
  }

  isOneOf(key: number, texts: readonly KnownText[], isWhole: boolean): boolean {
    const value = this.textOf(key);
    return texts.some(({ text }) => (isWhole ? value === text : value.endsWith(text)));
  }

  eventMs(name: number): number {
    let first = Number.NaN;
    for (const event of this.#given.events) {
      if (event.name !== this.#names.events[name] || event.sinceStartMs >= first) continue;
      first = event.sinceStartMs;
    }
    return first;
  }

  eachGap(name: number, add: (ms: number) => void): number {
    const asked = this.#names.events[name];
    const times = this.#given.events.flatMap((event) =>
      event.name === asked ? event.sinceStartMs : [],
    );
    return eachGap(Float64Array.from(times), times.length, add);
  }

  exceptionType(): string | undefined {
    const exception = this.#given.events.findLast(({ name }) => name === exceptionEvent);
    return exception && exceptionTypeIn(exception.attributes);
  }

  resourceValue(key: number): AttributeValue | undefined {
    return this.#given.resource.get(this.#names.resourceKeys[key] as string);
  }

  #valueOf(key: number): AttributeValue | undefined {
    return this.#given.attributes.get(this.#names.keys[key] as string);
  }

  get #given(): Span {
    return this.#span as Span;
  }
}

/** Returns the type of an exception by the attributes of its event. */
export function exceptionTypeIn(attributes: Attributes): string | undefined {
  return textFrom(attributes, 'exception.type');
}

/** Returns an attribute as text; undefined without one, and for an empty one. */
export function textFrom(attributes: Attributes, name: string): string | undefined {
  const value = attributes.get(name);
  return value === undefined || value === '' ? undefined : String(value);
}
