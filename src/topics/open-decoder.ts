import { invariant } from '../base/invariant.ts';
import type { DecoderOptions, EventDecoder } from '../decode/event-decoder.ts';
import { MessageDecoder } from '../decode/message-decoder.ts';
import { compileMapping } from '../formats/mapping/compile-mapping.ts';
import { OtlpJsonDecoder } from '../formats/otlp/otlp-json-decoder.ts';
import { OtlpProtoDecoder } from '../formats/otlp/otlp-proto-decoder.ts';
import { RecordDecoder } from '../formats/records/record-decoder.ts';
import type { RecordReader } from '../formats/records/record-reader.ts';
import { recordReaderOf } from '../formats/records/record-reader-of.ts';
import type { SchemaSource } from '../formats/records/schema-source.ts';
import { genai } from '../formats/spans/presets/genai.ts';
import type { Preset } from '../formats/spans/presets/preset.ts';
import { sglang } from '../formats/spans/presets/sglang.ts';
import { vllm } from '../formats/spans/presets/vllm.ts';
import type { FormatPlan } from './format-plan.ts';

const presets: Readonly<Record<string, readonly Preset[]>> = {
  vllm: [vllm],
  sglang: [sglang],
  genai,
};

/**
 * Opens the decoder of a format.
 *
 * @param schemas of the registry; absent where there is none.
 * @throws OperatorError TAILMARK_CONFIG_INVALID if the user's schema cannot be used.
 */
export function openDecoder(
  plan: FormatPlan,
  options: DecoderOptions,
  schemas: SchemaSource | undefined,
): EventDecoder {
  const { format = 'timing', preset, model } = plan.given;
  const spans = { ...options, presets: presetsOf(preset), rules: plan.spanRules, model };
  switch (format) {
    case 'timing':
      return new MessageDecoder(options);
    case 'otlp_json':
      return new OtlpJsonDecoder(spans);
    case 'otlp_proto':
      return new OtlpProtoDecoder(spans);
    default: {
      const map = plan.mapping && compileMapping(plan.mapping, model);
      return new RecordDecoder({ ...options, reader: readerOf(plan, format, schemas), map });
    }
  }
}

/** The rules of spans that a preset names; of all presets without one. */
function presetsOf(name: string | undefined): readonly Preset[] {
  return name === undefined ? Object.values(presets).flat() : (presets[name] ?? []);
}

function readerOf(
  { given, schema }: FormatPlan,
  format: 'json' | 'avro' | 'protobuf',
  schemas: SchemaSource | undefined,
): RecordReader {
  const { framing, message } = given;
  if (format === 'json') return recordReaderOf({ format, framing: framing ?? 'none' });
  if (schema === undefined) {
    invariant(schemas !== undefined, 'records with a schema id have a registry');
    return recordReaderOf({ format, framing: 'confluent', schemas });
  }
  const options = { format, framing: 'none', schema } as const;
  return recordReaderOf(
    format === 'avro' ? { ...options, format } : { ...options, format, message },
  );
}
