import { type Attributes, spanKinds } from '../span.ts';

const kinds: readonly string[] = spanKinds;

/** Returns a span's kind by the tag that Jaeger has for it. */
export function kindOfTags(tags: Attributes): number {
  return kindOf(tags.get('span.kind'));
}

/** Returns the kind of a name in either case; 0 for any other value. */
export function kindOf(name: unknown): number {
  return Math.max(0, kinds.indexOf(String(name).toLowerCase()));
}

/** Returns a span's status by the tags that Jaeger and OpenTelemetry's exporters have for it. */
export function statusCodeOfTags(tags: Attributes): number {
  const error = tags.get('error');
  const code = String(tags.get('otel.status_code') ?? '').replace('STATUS_CODE_', '');
  if (error === true || error === 'true' || code === 'ERROR') return 2;
  return code === 'OK' ? 1 : 0;
}
