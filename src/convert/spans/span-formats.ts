import { readJaegerUiJson } from '../../formats/spans/jaeger-ui-json.ts';
import { readOtelJsJson } from '../../formats/spans/otel-js-json.ts';
import { readOtlpJson } from '../../formats/spans/otlp-json.ts';
import type { FileFormat } from '../file-format.ts';
import { convertSpans } from './convert-spans.ts';

/** Spans of LLM servers and clients as OTLP JSON. */
export const otlpJson: FileFormat = {
  name: 'otlp_json',
  what: 'OTLP JSON: spans of vLLM, SGLang and GenAI clients, a request a line or one a file',
  recognise: (head) =>
    /^\uFEFF?\s*\{\s*"resourceSpans"\s*:/.test(head) ? 'it begins with resourceSpans' : undefined,
  convert: (files, options, sink) =>
    convertSpans(files, { read: readOtlpJson, start: '{"resourceSpans"' }, options, sink),
};

/**
 * Traces as Jaeger's user interface saves them. Calls of one trace differ by their span ids, and the
 * process of a client's span is not the service that answered.
 */
export const jaegerUi: FileFormat = {
  name: 'jaeger_ui',
  what: 'Jaeger UI JSON: traces with spans of vLLM, SGLang and GenAI clients',
  recognise: (head) =>
    /^\uFEFF?\s*\{/.test(head) && /"traceID"\s*:/.test(head) && /"spans"\s*:/.test(head)
      ? 'it has traceID and spans'
      : undefined,
  convert: (files, options, sink) =>
    convertSpans(
      files,
      {
        read: readJaegerUiJson,
        finish: (event, { spanId }) => ({
          ...event,
          service: undefined,
          region: undefined,
          host: undefined,
          id: spanId === '' ? undefined : spanId,
        }),
      },
      options,
      sink,
    ),
};

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
