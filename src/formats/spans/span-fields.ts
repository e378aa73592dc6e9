import type { EventDraft } from '../format-reader.ts';
import type { Span } from '../span.ts';
import type { Source } from './presets/preset.ts';
import { numberOf, statusOf, textOf } from './span-events.ts';
import { weightOf } from './trace-weight.ts';

/** Sources of the event's fields. */
export interface FieldSources {
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

export const defaultFields: FieldSources = {
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

/** Looks up the values that sources name. */
export interface SourceValues<S> {
  /** Returns the first of the sources that is a text and not empty. */
  textOf(sources: readonly S[]): string | undefined;
  /** Returns the first of the sources that is a number. */
  numberOf(sources: readonly S[]): number | undefined;
}

/** Values for its event that a span has in its own fields. */
export type OwnFields = Readonly<Record<'ts' | 'trace_id' | 'status' | 'weight', unknown>>;

/** Returns the fields that a span gives an event: all but the total and the stages. */
export function fieldsOf(span: Span, fields: FieldSources): EventDraft {
  const values: SourceValues<Source> = {
    textOf: (sources) => textOf(span, sources),
    numberOf: (sources) => numberOf(span, sources),
  };
  return fieldsFrom(values, fields, {
    ts: span.startMs,
    trace_id: span.traceId,
    status: statusOf(span),
    weight: weightOf(span.traceState),
  });
}

/** The same of a span whose sources are of another kind. */
export function fieldsFrom<S>(
  values: SourceValues<S>,
  fields: Readonly<Record<keyof FieldSources, readonly S[]>>,
  { ts, trace_id, status, weight }: OwnFields,
): EventDraft {
  return {
    ts: ts as number | undefined,
    model: textFrom(values, fields.model),
    version: textFrom(values, fields.version),
    request_type: textFrom(values, fields.request_type),
    service: textFrom(values, fields.service),
    host: textFrom(values, fields.host),
    region: textFrom(values, fields.region),
    tenant: textFrom(values, fields.tenant),
    id: textFrom(values, fields.id),
    trace_id,
    status,
    batch_size: countFrom(values, fields.batch_size),
    input_tokens: countFrom(values, fields.input_tokens),
    output_tokens: countFrom(values, fields.output_tokens),
    weight,
  };
}

/** Returns a field as text, whether it is text or a number. */
export function textAt(span: Span, sources: FieldSources['model']): string | undefined {
  return textOf(span, sources) ?? numberOf(span, sources)?.toString();
}

function textFrom<S>(values: SourceValues<S>, sources: readonly S[]): string | undefined {
  if (sources.length === 0) return undefined;
  return values.textOf(sources) ?? values.numberOf(sources)?.toString();
}

/** Numbers may be texts: Zipkin and Jaeger's older clients have no others. */
function countFrom<S>(values: SourceValues<S>, sources: readonly S[]): number | undefined {
  if (sources.length === 0) return undefined;
  const number = values.numberOf(sources) ?? Number(values.textOf(sources) ?? Number.NaN);
  return Number.isSafeInteger(number) && number >= 0 ? number : undefined;
}
