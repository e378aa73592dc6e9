import type { EventDraft } from '../../formats/format-reader.ts';
import { isEntry, type Span } from '../../formats/span.ts';
import { fieldsOf } from '../../formats/spans/rules/span-fields.ts';
import { textFrom } from '../../formats/spans/rules/span-values.ts';
import { idHalves } from '../../formats/spans/trace/ids.ts';
import type { TraceSpan } from '../trace.ts';
import type { TraceRules } from './trace-rules.ts';

/** Memory of a span without its names and attributes, of fields, and of an attribute, estimated. */
export const SPAN_BYTES = 200;
const FIELDS_BYTES = 200;
const ATTRIBUTE_BYTES = 60;
const EVENT_BYTES = 100;

/** Returns what an open trace keeps of a span: all of it only where the trace's event may need it. */
export function traceSpanOf(span: Span, rules: TraceRules): TraceSpan {
  const { parentSpanId, name, endIsSet, durationMs, isShared = false } = span;
  const id = idHalves(span.spanId);
  const parent = idHalves(parentSpanId);
  const service = textFrom(span.resource, 'service.name') ?? '';
  const isTop = parentSpanId === '' || isEntry(span.kind, span.parentIsRemote);
  const mayBeRoot = isTop || rules.rootNames.has(name);
  const isWhole = rules.stagesFrom === 'triton';
  const fields = mayBeRoot ? fieldsOf(span, rules.fields) : undefined;
  return {
    idHigh: id.high,
    idLow: id.low,
    parentHigh: parent.high,
    parentLow: parent.low,
    name,
    service,
    isShared,
    endIsSet,
    durationMs,
    fields,
    full: isWhole ? span : undefined,
    bytes:
      SPAN_BYTES +
      2 * (name.length + service.length) +
      (fields === undefined ? 0 : bytesOfFields(fields)) +
      (isWhole ? bytesOf(span) : 0),
  };
}

/** Memory of the fields of a root, estimated. */
export function bytesOfFields(fields: EventDraft): number {
  const { model, version, request_type, service, host, region, tenant, id } = fields;
  const texts = bytesOfText(model) + bytesOfText(version) + bytesOfText(request_type);
  const places = bytesOfText(service) + bytesOfText(host) + bytesOfText(region);
  const own = Object.values(fields.attributes ?? {}).reduce<number>(
    (bytes, value) => bytes + ATTRIBUTE_BYTES + bytesOfText(value),
    0,
  );
  return FIELDS_BYTES + texts + places + bytesOfText(tenant) + bytesOfText(id) + own;
}

function bytesOfText(text: unknown): number {
  return typeof text === 'string' ? 2 * text.length : 0;
}

function bytesOf({ attributes, events, traceState }: Span): number {
  let bytes = SPAN_BYTES + 2 * traceState.length + EVENT_BYTES * events.length;
  for (const [key, value] of attributes) {
    bytes += ATTRIBUTE_BYTES + 2 * key.length + (typeof value === 'string' ? 2 * value.length : 0);
  }
  return bytes;
}
