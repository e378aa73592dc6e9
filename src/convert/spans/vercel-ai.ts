import { readOtelJsJson } from '../../formats/spans/otel-js-json.ts';
import type { FileFormat } from '../file-format.ts';
import { convertSpans } from './convert-spans.ts';

/** Spans of the Vercel AI SDK as OpenTelemetry's SDK for JavaScript has them in memory. */
export const vercelAi: FileFormat = {
  name: 'vercel_ai',
  what: 'Vercel AI SDK: its spans as OpenTelemetry for JavaScript has them, as JSON',
  recognise: (head) =>
    /^\uFEFF?\s*[[{]/.test(head) &&
    /"spanContext"\s*:/.test(head) &&
    /"ai\.operationId"\s*:/.test(head)
      ? 'it has spanContext and ai.operationId'
      : undefined,
  convert: (files, options, sink) => convertSpans(files, { read: readOtelJsJson }, options, sink),
};
