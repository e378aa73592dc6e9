import { readLlmSpan } from '../../formats/spans/llm-span.ts';
import { readOtlpJson } from '../../formats/spans/read-otlp-json.ts';
import type { FileFormat } from '../file-format.ts';
import { jsonValues, objectOf } from '../json-values.ts';

const MAX_REQUEST_BYTES = 64 * 1024 * 1024;

/**
 * Spans in OTLP's JSON, as the collector's file exporter writes them: a request a line, or over many lines. Spans of
 * LLM servers and clients become events; see `readLlmSpan`. Memory: one request, at most 64 MiB.
 */
export const otlpJson: FileFormat = {
  name: 'otlp_json',
  what: 'OTLP JSON: spans of vLLM, SGLang, GenAI, OpenLLMetry, OpenInference',
  recognise(head) {
    return /^\s*\{\s*"resourceSpans"\s*:/.test(head) ? 'objects with resourceSpans' : undefined;
  },
  async convert(files, options, sink) {
    for (const file of files) {
      for await (const { bytes, isTooLong } of jsonValues(file.open(), MAX_REQUEST_BYTES)) {
        const request = isTooLong ? undefined : objectOf(bytes);
        if (request === undefined || !Array.isArray(request.resourceSpans)) {
          const found = isTooLong ? 'it is longer than 64 MiB' : 'it is another';
          const detail = `A request of ${file.name} must be a JSON object with resourceSpans: ${found}`;
          sink.reject('invalid_json', detail, { bytes: () => bytes });
          continue;
        }
        for (const { span, origin } of readOtlpJson(request)) {
          readLlmSpan(span, origin, {
            draft: (event, from) =>
              sink.draft(
                options.model === undefined ? event : { ...event, model: options.model },
                from,
              ),
            reject: (reason, detail, from) => sink.reject(reason, detail, from),
            skip: (count) => sink.skip(count),
          });
        }
      }
    }
  },
};
