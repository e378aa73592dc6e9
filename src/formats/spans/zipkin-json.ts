import { type JsonObject, listOf, objectOf, parsed, textOf } from '../loose-json.ts';
import {
  type Attributes,
  hexId,
  isEntry,
  type Moment,
  momentOfUs,
  msBetween,
  type Span,
  type SpanEvent,
  toNanosecond,
} from '../span.ts';
import { plainAttributes } from './plain-attributes.ts';
import { excessOf, readSpanList, type SpanFault, type SpanSink } from './span-reader.ts';
import { kindOf, statusCodeOfTags } from './span-tags.ts';

/**
 * Reads spans as Zipkin has them (v2): a list, a list of lists, or a single one. Times are whole
 * microseconds. A span without a duration has 0, which writers leave out.
 *
 * Definition: https://zipkin.io/zipkin-api/zipkin2-api.yaml
 */
export function readZipkinJson(text: string, sink: SpanSink): string | undefined {
  return readSpanList(text, sink, spanOf);
}

/** In v1 a span has its service and its kind in annotations. */
const isV1: SpanFault = {
  detail: "A span must be of Zipkin's JSON v2, and has binaryAnnotations of v1.",
};

function spanOf(raw: JsonObject): Span | SpanFault {
  if (Array.isArray(raw.binaryAnnotations)) return isV1;
  const excess = excessOf(raw.tags, raw.annotations, '');
  if (excess !== undefined) return excess;
  const start = momentOfUs(raw.timestamp);
  const { duration = 0 } = raw;
  const isDuration = typeof duration === 'number' && Number.isFinite(duration);
  const tags = Object.entries(objectOf(raw.tags) ?? {});
  const attributes = plainAttributes(tags);
  const service = textOf(objectOf(raw.localEndpoint)?.serviceName);
  const code = statusCodeOfTags(attributes);
  const kind = kindOf(raw.kind ?? attributes.get('span.kind'));
  const parentSpanId = hexId(raw.parentId);
  return {
    traceId: hexId(raw.traceId),
    spanId: hexId(raw.id),
    parentSpanId,
    name: textOf(raw.name),
    kind,
    startMs: start?.ms,
    startNs: start?.ns ?? 0,
    durationMs: isDuration ? toNanosecond(duration / 1000) : undefined,
    // A request without a duration has not ended: reporters send unfinished spans so.
    endIsSet: isDuration && (raw.duration !== undefined || (parentSpanId !== '' && !isEntry(kind))),
    // In Zipkin the tag `error` alone says it, whatever its value.
    statusCode: attributes.has('error') ? 2 : code,
    attributes,
    // Exporters write the resource's attributes among the tags.
    resource: service === '' ? attributes : plainAttributes([...tags, ['service.name', service]]),
    events: start === undefined ? [] : eventsOf(raw.annotations, start),
    traceState: textOf(attributes.get('w3c.tracestate')),
    ...(raw.shared === true ? { isShared: true } : {}),
  };
}

const noAttributes: Attributes = new Map();

/** An annotation is a text; OpenTelemetry's exporter writes `NAME|ATTRIBUTES|COUNT`. */
function eventsOf(annotations: unknown, start: Moment): readonly SpanEvent[] {
  return listOf(annotations).flatMap((entry) => {
    const { timestamp, value } = objectOf(entry) ?? {};
    const time = momentOfUs(timestamp);
    if (time === undefined) return [];
    const [name = '', json = ''] = textOf(value).split('|', 2);
    const attributes = objectOf(json === '' ? undefined : parsed(json));
    return [
      {
        name,
        sinceStartMs: msBetween(start, time),
        attributes:
          attributes === undefined ? noAttributes : plainAttributes(Object.entries(attributes)),
      },
    ];
  });
}
