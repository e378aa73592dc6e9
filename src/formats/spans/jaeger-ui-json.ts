import {
  type JsonObject,
  jsonBytes,
  listOf,
  notJson,
  objectOf,
  parsed,
  textOf,
} from '../loose-json.ts';
import {
  type Attributes,
  hexId,
  type Moment,
  momentOfUs,
  msBetween,
  type Span,
  type SpanEvent,
  toNanosecond,
} from '../span.ts';
import { plainAttributes } from './plain-attributes.ts';
import { excessOf, putSpan, type SpanSink } from './span-reader.ts';
import { kindOfTags, statusCodeOfTags } from './span-tags.ts';

/**
 * Reads traces as Jaeger's user interface and query API have them: a list of traces in `data`, one trace
 * there, or a single trace. Times are whole microseconds.
 */
export function readJaegerUiJson(text: string, sink: SpanSink): string | undefined {
  const value = parsed(text);
  if (value === undefined) return notJson;
  const file = objectOf(value);
  if (file === undefined) return 'Traces must be a JSON object, and are not.';
  const data = file.data ?? file;
  for (const entry of Array.isArray(data) ? data : [data]) {
    const trace = objectOf(entry);
    if (trace === undefined || !Array.isArray(trace.spans)) {
      const origin = { bytes: () => jsonBytes((part) => ({ data: [part] }), entry) };
      sink.malformed('A trace must be an object with a list of spans, and is not.', origin);
    } else readTrace(trace, trace.spans, sink);
  }
  return undefined;
}

function readTrace(trace: JsonObject, spans: readonly unknown[], sink: SpanSink): void {
  const processes = new Map(Object.entries(objectOf(trace.processes) ?? {}));
  const resources = new Map([...processes].map(([id, process]) => [id, resourceOf(process)]));
  for (const entry of spans) {
    const span = objectOf(entry);
    const id = textOf(span?.processID);
    const process = processes.has(id) ? { [id]: processes.get(id) } : {};
    const message = (part: unknown) => ({
      data: [{ traceID: span?.traceID, spans: [part], processes: process }],
    });
    const origin = { bytes: () => jsonBytes(message, entry) };
    if (span === undefined) sink.malformed('A span must be a JSON object, and is not.', origin);
    else {
      const excess = excessOf(span.tags, span.logs, 'fields');
      putSpan(excess ?? spanOf(span, resources.get(id) ?? new Map()), origin, sink);
    }
  }
}

function resourceOf(process: unknown): Attributes {
  const { serviceName, tags } = objectOf(process) ?? {};
  return plainAttributes([...pairsOf(tags), ['service.name', serviceName]]);
}

function pairsOf(tags: unknown): (readonly [unknown, unknown])[] {
  return listOf(tags).map((entry) => {
    const { key, value } = objectOf(entry) ?? {};
    return [key, value];
  });
}

function spanOf(raw: JsonObject, resource: Attributes): Span {
  const start = momentOfUs(raw.startTime);
  const duration = raw.duration;
  const isDuration = typeof duration === 'number' && Number.isFinite(duration);
  const attributes = plainAttributes(pairsOf(raw.tags));
  return {
    traceId: hexId(raw.traceID),
    spanId: hexId(raw.spanID),
    parentSpanId: hexId(parentOf(raw)),
    name: textOf(raw.operationName),
    kind: kindOfTags(attributes),
    startMs: start?.ms,
    startNs: start?.ns ?? 0,
    durationMs: isDuration ? toNanosecond(duration / 1000) : undefined,
    endIsSet: isDuration,
    statusCode: statusCodeOfTags(attributes),
    attributes,
    resource,
    events: start === undefined ? [] : eventsOf(raw.logs, start),
    traceState: textOf(attributes.get('w3c.tracestate')),
  };
}

function parentOf(raw: JsonObject): unknown {
  const references = listOf(raw.references).map((entry) => objectOf(entry));
  return references.find((entry) => entry?.refType === 'CHILD_OF')?.spanID;
}

function eventsOf(logs: unknown, start: Moment): readonly SpanEvent[] {
  return listOf(logs).flatMap((entry) => {
    const { timestamp, fields } = objectOf(entry) ?? {};
    const time = momentOfUs(timestamp);
    if (time === undefined) return [];
    const attributes = plainAttributes(pairsOf(fields));
    const name = textOf(attributes.get('event') ?? attributes.get('name'));
    return [{ name, sinceStartMs: msBetween(start, time), attributes }];
  });
}
