import type { EventDraft } from '../../format-reader.ts';
import type { Span } from '../../span.ts';
import type { Source } from '../presets/preset.ts';
import { AskedNames } from './asked-names.ts';
import { orAbsent, SourceValues } from './source-values.ts';
import { type SpanValues, ValuesOfSpan } from './span-values.ts';
import { weightOf } from './trace-weight.ts';

/** Sources of the event's fields. */
export interface NamedSources {
  readonly model: readonly Source[];
  readonly version: readonly Source[];
  readonly request_type: readonly Source[];
  readonly service: readonly Source[];
  readonly host: readonly Source[];
  readonly region: readonly Source[];
  readonly tenant: readonly Source[];
  readonly id: readonly Source[];
  readonly batch_size: readonly Source[];
  readonly input_tokens: readonly Source[];
  readonly output_tokens: readonly Source[];
}

/** Sources of the team's own dimensions and facets, by name. */
export type OwnSources = Readonly<Record<string, readonly Source[] | undefined>>;

export interface FieldSources extends NamedSources {
  /** @default {none} */
  readonly attributes?: OwnSources | undefined;
}

export const defaultFields: NamedSources = {
  model: [
    'ml.model.name',
    'gen_ai.response.model',
    'gen_ai.request.model',
    'resource:service.name',
  ],
  version: ['ml.model.version'],
  request_type: [],
  service: ['resource:service.name'],
  host: ['resource:host.name'],
  region: ['resource:cloud.region'],
  tenant: ['tenant.id'],
  id: [],
  batch_size: ['ml.batch_size'],
  input_tokens: ['gen_ai.usage.input_tokens'],
  output_tokens: ['gen_ai.usage.output_tokens'],
};

/** Gives the fields of events by the sources of one configuration. */
export class FieldReader {
  readonly names = new AskedNames();
  readonly #fields: Readonly<Record<keyof NamedSources, Int32Array>>;
  readonly #own: readonly (readonly [name: string, sources: Int32Array])[];

  constructor({ attributes = {}, ...fields }: FieldSources) {
    this.#own = Object.entries(attributes).map(([name, sources = []]) => [
      name,
      this.names.sources(sources),
    ]);
    this.#fields = Object.fromEntries(
      Object.entries(fields).map(([name, sources]) => [name, this.names.sources(sources)]),
    ) as Record<keyof NamedSources, Int32Array>;
  }

  /** Returns the fields that the span at hand gives an event: all but the total and the stages. */
  read(values: SpanValues, sources: SourceValues, traceId: string): EventDraft {
    const fields = this.#fields;
    return {
      ts: orAbsent(values.startMs),
      model: sources.shownOf(fields.model),
      version: sources.shownOf(fields.version),
      request_type: sources.shownOf(fields.request_type),
      service: sources.shownOf(fields.service),
      host: sources.shownOf(fields.host),
      region: sources.shownOf(fields.region),
      tenant: sources.shownOf(fields.tenant),
      id: sources.shownOf(fields.id),
      trace_id: traceId,
      status: sources.status(),
      batch_size: countOf(sources, fields.batch_size),
      input_tokens: countOf(sources, fields.input_tokens),
      output_tokens: countOf(sources, fields.output_tokens),
      weight: weightOf(values.traceState),
      ...(this.#own.length > 0 && { attributes: this.#attributes(sources) }),
    };
  }

  #attributes(sources: SourceValues): Readonly<Record<string, string | undefined>> {
    return Object.fromEntries(this.#own.map(([name, from]) => [name, sources.shownOf(from)]));
  }
}

/** Readers of spans that were read as a whole, each made once. */
const readers = new WeakMap<FieldSources, (span: Span) => EventDraft>();

/** Returns the fields that a span gives an event: all but the total and the stages. */
export function fieldsOf(span: Span, fields: FieldSources): EventDraft {
  let read = readers.get(fields);
  if (read === undefined) {
    const reader = new FieldReader(fields);
    const values = new ValuesOfSpan(reader.names);
    const sources = new SourceValues(reader.names, values);
    read = (each) => reader.read(values.begin(each), sources, each.traceId);
    readers.set(fields, read);
  }
  return read(span);
}

/** Numbers may be texts: Zipkin and Jaeger's older clients have no others. */
function countOf(values: SourceValues, sources: Int32Array): number | undefined {
  if (sources.length === 0) return undefined;
  const found = values.numberOf(sources);
  const number = Number.isNaN(found) ? Number(values.textOf(sources) ?? Number.NaN) : found;
  return Number.isSafeInteger(number) && number >= 0 ? number : undefined;
}
