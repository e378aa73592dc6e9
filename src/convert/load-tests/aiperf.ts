import type { DraftSink } from '../../formats/format-reader.ts';
import { type JsonObject, objectOf } from '../../formats/loose-json.ts';
import { toNanosecond } from '../../formats/span.ts';
import {
  type ConvertOptions,
  eachFile,
  type FileFormat,
  type InputFile,
  recognisedByKeys,
} from '../file-format.ts';
import { lines } from '../lines.ts';
import { FieldReader } from './field-reader.ts';
import { jsonLines, originOf } from './json-lines.ts';
import { failureStatus } from './labels.ts';

/** Digits of a member: `JSON.parse` would round nanoseconds since 1970 to multiples of 256. */
function nanosecondsOf(text: string, name: string): bigint | undefined {
  const digits = new RegExp(`(?<!\\\\)"${name}"\\s*:\\s*(\\d{1,19})(?!\\d)`).exec(text)?.[1];
  return digits === undefined ? undefined : BigInt(digits);
}

function statusOf(metadata: JsonObject, error: JsonObject | undefined) {
  if (metadata.was_cancelled === true) return 'cancelled';
  if (error === undefined) return 'ok';
  return failureStatus(String(error.code ?? ''), String(error.type ?? ''));
}

/** Durations and tokens of a record, whose metrics are `{ value, unit }`. */
function measured(fields: FieldReader) {
  const first_token = fields.optionalNumber('time_to_first_token', 'bad_duration');
  const input_tokens =
    fields.optionalNumber('input_sequence_length', 'bad_field') ??
    fields.optionalNumber('error_isl', 'bad_field');
  const output_tokens = fields.optionalNumber('output_sequence_length', 'bad_field');
  // `inter_token_latency` is their mean, of one request.
  const gaps = fields.optionalNumbers('inter_chunk_latency', 'bad_duration');
  return {
    latencyMs: fields.optionalNumber('request_latency', 'bad_duration'),
    stages_ms: { ...(first_token !== undefined && { first_token }) },
    ...(gaps !== undefined && gaps.length > 0 && { itl_ms: gaps.map(toNanosecond) }),
    tokens: {
      ...(input_tokens !== undefined && { input_tokens }),
      ...(output_tokens !== undefined && { output_tokens }),
    },
  };
}

function convertRecord(
  { number, text, value }: { number: number; text: string; value: JsonObject },
  options: ConvertOptions,
  sink: DraftSink,
): void {
  const metadata = objectOf(value.metadata) ?? {};
  const metrics = objectOf(value.metrics) ?? {};
  const phase = metadata.benchmark_phase;
  if (phase !== undefined && phase !== 'profiling') {
    sink.skip(1);
    return;
  }
  const origin = originOf(text);
  const startNs = nanosecondsOf(text, 'request_start_ns');
  const endNs = nanosecondsOf(text, 'request_end_ns');
  if (startNs === undefined || endNs === undefined) {
    const name = startNs === undefined ? 'request_start_ns' : 'request_end_ns';
    const detail = `Line ${number}: metadata.${name} must be nanoseconds since 1970: it is absent or another`;
    sink.reject(startNs === undefined ? 'missing_ts' : 'no_end', detail, origin);
    return;
  }
  if (endNs < startNs) {
    const detail = `Line ${number}: metadata.request_end_ns must not be before request_start_ns: it is ${endNs}`;
    sink.reject('ends_before_start', detail, origin);
    return;
  }
  const fields = new FieldReader(`Line ${number}`, (name) => objectOf(metrics[name])?.value);
  const { latencyMs, tokens, ...durations } = measured(fields);
  const { problem } = fields;
  if (problem !== undefined) {
    sink.reject(problem.reason, problem.detail, origin);
    return;
  }
  const error = value.error;
  const id = metadata.x_request_id;
  sink.draft(
    {
      ts: Number(startNs / 1_000_000n),
      model: options.model,
      ...(typeof id === 'string' && { id }),
      status: statusOf(
        metadata,
        error === undefined || error === null ? undefined : (objectOf(error) ?? {}),
      ),
      ...tokens,
      total_ms: latencyMs ?? Number(endNs - startNs) / 1e6,
      ...durations,
    },
    origin,
  );
}

async function convertFile(file: InputFile, options: ConvertOptions, sink: DraftSink) {
  for await (const line of jsonLines(lines(file.open()), sink)) convertRecord(line, options, sink);
}

/**
 * Records of NVIDIA AIPerf (`profile_export.jsonl`). They have no model: it is `--model`. Records of the
 * warm-up are skipped. The total is `request_latency`, else from start to end; a failed request mostly has 0.
 */
export const aiperf: FileFormat = {
  name: 'aiperf',
  what: 'NVIDIA AIPerf: profile_export.jsonl',
  recognise: recognisedByKeys('request_start_ns', 'benchmark_phase'),
  convert: eachFile(convertFile),
};
