import type { EventDraft } from '../../formats/format-reader.ts';
import type { Span } from '../../formats/spans/span.ts';
import { numberOf, statusOf, textOf } from '../../formats/spans/span-events.ts';
import { weightOf } from '../../formats/spans/trace-weight.ts';
import type { FieldSources } from './trace-rules.ts';

/** Returns the fields that a root gives its trace's event: all but the total and the stages. */
export function rootFieldsOf(span: Span, fields: FieldSources): EventDraft {
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
