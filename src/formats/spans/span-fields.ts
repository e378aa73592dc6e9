import type { EventDraft } from '../format-reader.ts';
import type { Source } from './presets/preset.ts';
import type { Span } from './span.ts';
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

/** Returns the fields that a span gives an event: all but the total and the stages. */
export function fieldsOf(span: Span, fields: FieldSources): EventDraft {
  return {
    ts: span.startMs,
    model: textAt(span, fields.model),
    version: textAt(span, fields.version),
    request_type: textAt(span, fields.request_type),
    service: textAt(span, fields.service),
    host: textAt(span, fields.host),
    region: textAt(span, fields.region),
    tenant: textAt(span, fields.tenant),
    id: textAt(span, fields.id),
    trace_id: span.traceId,
    status: statusOf(span),
    batch_size: countAt(span, fields.batch_size),
    input_tokens: countAt(span, fields.input_tokens),
    output_tokens: countAt(span, fields.output_tokens),
    weight: weightOf(span.traceState),
  };
}

/** Returns a field as text, whether it is text or a number. */
export function textAt(span: Span, sources: FieldSources['model']): string | undefined {
  if (sources.length === 0) return undefined;
  return textOf(span, sources) ?? numberOf(span, sources)?.toString();
}

/** Numbers may be texts: Zipkin and Jaeger's older clients have no others. */
function countAt(span: Span, sources: FieldSources['model']): number | undefined {
  if (sources.length === 0) return undefined;
  const number = numberOf(span, sources) ?? Number(textOf(span, sources) ?? Number.NaN);
  return Number.isSafeInteger(number) && number >= 0 ? number : undefined;
}
