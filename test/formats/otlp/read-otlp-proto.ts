import { MessageView } from '../../../src/formats/otlp/message-view.ts';
import { OtlpSpanReader } from '../../../src/formats/otlp/otlp-span-reader.ts';
import { OtlpEnvelope, requestOfSpan } from '../../../src/formats/spans/otlp-envelope.ts';
import { AskedNames } from '../../../src/formats/spans/rules/asked-names.ts';
import { putSpan, type SpanSink } from '../../../src/formats/spans/span-reader.ts';

/**
 * Reads all of each span of a request, without the short cuts that attributes and events have. Where the
 * messages around the spans cannot be read, none is given and the sentence is returned.
 */
export function readOtlpProto(bytes: Buffer, sink: SpanSink): string | undefined {
  const envelope = new OtlpEnvelope();
  const view = new MessageView();
  const reader = new OtlpSpanReader(view, new AskedNames());
  envelope.begin(bytes);
  if (envelope.problem !== undefined) return envelope.problem;
  view.begin(bytes);
  while (envelope.next()) {
    const { start, end, resourceStart, resourceEnd, scopeStart, scopeEnd } = envelope;
    const resource = reader.readResource(resourceStart, resourceEnd);
    const around = [
      { start: resourceStart, end: resourceEnd },
      { start: scopeStart, end: scopeEnd },
    ] as const;
    const origin = { bytes: () => requestOfSpan(bytes, ...around, { start, end }) };
    putSpan('detail' in resource ? resource : reader.readWhole(start, end, resource), origin, sink);
  }
  return undefined;
}
