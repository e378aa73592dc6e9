import { readJaegerUiJson } from '../../formats/spans/jaeger-ui-json.ts';
import type { FileFormat } from '../file-format.ts';
import { convertSpans } from './convert-spans.ts';

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
