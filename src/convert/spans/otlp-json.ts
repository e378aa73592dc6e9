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
