/** Forms in which Kafka's tools wrap an event, and the remedy: for the detail of a rejection. */

/** Detects the header of a schema registry's serializer: byte 0, then the id of the schema in 4 bytes. */
export function registryHeader(bytes: Buffer, start: number, end: number): string | undefined {
  if (end - start < 5 || bytes[start] !== 0) return undefined;
  const id = bytes.readUInt32BE(start + 1);
  return (
    `it begins with the header of a schema registry (byte 0, schema id ${id}); ` +
    'publish with a plain JSON serializer, or set the format of the topic with framing: confluent'
  );
}

/** Names what bytes that are no UTF-8 may be, as the end of a sentence; '' where nothing is known. */
export function binaryHint(message: Buffer): string {
  // Field 1 of a message, with a length: so begins every export request of OpenTelemetry.
  const isProtobuf = message[0] === 0x0a;
  return isProtobuf ? '; it looks like protobuf: set format: otlp_proto for spans' : '';
}

/** Names what an object or text is that wraps an event. */
export function wrapperOf(value: unknown): string | undefined {
  if (typeof value === 'string') {
    const isJson = /^\s*[{[]/.test(value);
    return isJson ? 'it is JSON within a text: it was serialized twice' : undefined;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  if (
    'payload' in value &&
    ('schema' in value || 'op' in value || Object.keys(value).length === 1)
  ) {
    return 'the event seems to be in payload: set value.converter.schemas.enable=false in Kafka Connect';
  }
  if ('specversion' in value) {
    return 'the event seems to be in data of a CloudEvent: set format: json and preset: cloudevents for the topic';
  }
  if ('resourceSpans' in value) {
    return 'it is an OpenTelemetry export request: set format: otlp_json for the topic';
  }
  return undefined;
}
