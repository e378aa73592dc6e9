import type { EventDraft } from '../../formats/format-reader.ts';
import type { MessageView } from '../../formats/otlp/message-view.ts';
import { SpanScanner, valueKinds } from '../../formats/otlp/span-scanner.ts';
import { type Attributes, toNanosecond } from '../../formats/span.ts';
import { partsOf, type Source } from '../../formats/spans/presets/preset.ts';
import { errorCode, errorType, statusOfCause } from '../../formats/spans/span-events.ts';
import {
  type FieldSources,
  fieldsFrom,
  type SourceValues,
} from '../../formats/spans/span-fields.ts';
import type { BytesCache } from './bytes-cache.ts';

const EXCEPTION = 'exception';

/** The index of an attribute, or the complement of the index of the resource's attribute. */
type CompiledSource = number;
type CompiledFields = Readonly<Record<keyof FieldSources, readonly CompiledSource[]>>;

/** Index that stands for the span's name. */
const NAME = 1 << 16;

/**
 * Reads the fields that a root in OTLP protobuf gives its event, in one pass and without what no rule asks for.
 * They are those of `fieldsOf` and `otlpSpan`. The latter has to read a root that is unlike what writers write.
 */
export class OtlpRootReader implements SourceValues<CompiledSource> {
  readonly #texts: BytesCache<string>;
  readonly #message: MessageView;
  readonly #scanner: SpanScanner;
  readonly #fields: CompiledFields;
  readonly #resourceKeys: readonly string[];
  readonly #errorType: number;
  /** True if a source is JSON inside of an attribute, which the scanner does not read. */
  readonly #hasMembers: boolean;
  #bytes: Buffer = Buffer.alloc(0);
  #resource: Attributes = new Map();

  /** @param message of the spans that `read` is given. */
  constructor(fields: FieldSources, message: MessageView, texts: BytesCache<string>) {
    this.#texts = texts;
    this.#message = message;
    const all = listsOf(fields).flatMap(([, sources]) => sources.map(partsOf));
    const keys = [...new Set([errorType, ...all.map(({ attribute }) => attribute)])];
    const compiled = (source: Source): CompiledSource => {
      const { isName, isResource, attribute } = partsOf(source);
      if (isName) return NAME;
      return isResource ? ~keys.indexOf(attribute) : keys.indexOf(attribute);
    };
    this.#fields = Object.fromEntries(
      listsOf(fields).map(([field, sources]) => [field, sources.map(compiled)]),
    ) as unknown as CompiledFields;
    this.#resourceKeys = keys;
    this.#errorType = keys.indexOf(errorType);
    this.#hasMembers = all.some(({ member }) => member !== undefined);
    this.#scanner = new SpanScanner(this.#message, keys, [EXCEPTION], 0);
  }

  /** True if the root that was read has an end. */
  get endIsSet(): boolean {
    return this.#scanner.hasEnd;
  }

  /** Duration of the root that was read, as `otlpSpan` gives it. */
  get durationMs(): number | undefined {
    const { hasEnd, times } = this.#scanner;
    if (!hasEnd) return undefined;
    const [startMs = 0, startNs = 0, endMs = 0, endNs = 0] = times;
    return toNanosecond(endMs - startMs + (endNs - startNs) / 1e6);
  }

  /** Returns the fields of the root at `[start, end)`; undefined where `otlpSpan` has to read it. */
  read(
    bytes: Buffer,
    start: number,
    end: number,
    traceId: string,
    resource: Attributes,
  ): EventDraft | undefined {
    const scanner = this.#scanner;
    if (this.#hasMembers) return undefined;
    scanner.begin();
    if (!scanner.scan(bytes, start, end) || scanner.isSampled || !scanner.hasStart)
      return undefined;
    this.#bytes = bytes;
    this.#resource = resource;
    const status = this.#status();
    if (status === undefined) return undefined;
    const ts = scanner.times[0];
    return fieldsFrom(this, this.#fields, { ts, trace_id: traceId, status, weight: undefined });
  }

  textOf(sources: readonly CompiledSource[]): string | undefined {
    for (let i = 0; i < sources.length; i++) {
      const text = this.#textAt(sources[i] as number);
      if (text !== '') return text;
    }
    return undefined;
  }

  numberOf(sources: readonly CompiledSource[]): number | undefined {
    const { numbers } = this.#scanner;
    for (let i = 0; i < sources.length; i++) {
      const source = sources[i] as number;
      if (source < 0) {
        const value = this.#resource.get(this.#resourceKeys[~source] as string);
        if (typeof value === 'number') return value;
      } else if (source !== NAME && this.#scanner.kindOf(source) === valueKinds.number) {
        return numbers[source] as number;
      }
    }
    return undefined;
  }

  /** Undefined where only `otlpSpan` can say. */
  #status(): string | undefined {
    const scanner = this.#scanner;
    const kind = scanner.kindOf(this.#errorType);
    if (kind !== valueKinds.text && kind !== valueKinds.none) return undefined;
    const error = this.#textAt(this.#errorType);
    if (error !== '') return statusOfCause(error);
    if (scanner.statusCode !== errorCode) return 'ok';
    return scanner.hasException ? undefined : statusOfCause('');
  }

  /** '' without a text. */
  #textAt(source: number): string {
    const { nameStart, nameEnd, starts, ends } = this.#scanner;
    if (source < 0) {
      const value = this.#resource.get(this.#resourceKeys[~source] as string);
      return typeof value === 'string' ? value : '';
    }
    if (source === NAME) return this.#text(nameStart, nameEnd);
    if (this.#scanner.kindOf(source) !== valueKinds.text) return '';
    return this.#text(starts[source] as number, ends[source] as number);
  }

  #text(start: number, end: number): string {
    return this.#texts.get(this.#message, this.#bytes, start, end);
  }
}

function listsOf(fields: FieldSources): [string, readonly Source[]][] {
  return Object.entries(fields);
}
