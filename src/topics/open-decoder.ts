import { invariant } from '../base/invariant.ts';
import type { DecoderOptions, EventDecoder } from '../decode/event-decoder.ts';
import { MessageDecoder } from '../decode/message/message-decoder.ts';
import { compileMapping } from '../formats/mapping/compile-mapping.ts';
import type { FoundFields } from '../formats/mapping/found-fields.ts';
import { countedOnce, seenRequestsOf } from '../formats/mapping/seen-requests.ts';
import { textLines } from '../formats/mapping/text-lines.ts';
import { OtlpJsonDecoder } from '../formats/otlp/otlp-json-decoder.ts';
import { OtlpProtoDecoder } from '../formats/otlp/otlp-proto-decoder.ts';
import { RecordDecoder } from '../formats/records/record-decoder.ts';
import type { RecordReader } from '../formats/records/record-reader.ts';
import type { SchemaSource } from '../formats/records/schema-source.ts';
import { spanPresets } from '../formats/spans/presets/span-presets.ts';
import type { FormatPlan } from './format-plan.ts';
import { recordReaderOf } from './record-reader-of.ts';

/**
 * Opens the decoder of a format.
 *
 * @param schemas of the registry; absent where there is none.
 * @param found watches which fields of the user's own mapping the records have.
 */
export function openDecoder(
  plan: FormatPlan,
  options: DecoderOptions,
  schemas: SchemaSource | undefined,
  found?: FoundFields,
): EventDecoder {
  const { format = 'timing', preset, model } = plan.given;
  const spans = { ...options, presets: spanPresets(preset), rules: plan.spanRules, model };
  switch (format) {
    case 'timing':
      return new MessageDecoder(options);
    case 'otlp_json':
      return new OtlpJsonDecoder(spans);
    case 'otlp_proto':
      return new OtlpProtoDecoder(spans);
    default: {
      const { mapping } = plan;
      const compiled = mapping && compileMapping(mapping, model);
      // A preset has fields that many lack.
      const watching = plan.given.mapping === undefined ? undefined : found;
      const watched =
        mapping && compiled && watching ? watching.watch(mapping, compiled) : compiled;
      const seen = seenRequestsOf(mapping);
      const map = watched && countedOnce(watched, seen);
      return new RecordDecoder({ ...options, reader: readerOf(plan, format, schemas), map, seen });
    }
  }
}

function readerOf(
  { given, mapping, fileReader }: FormatPlan,
  format: 'json' | 'avro' | 'protobuf',
  schemas: SchemaSource | undefined,
): RecordReader {
  if (fileReader !== undefined) return fileReader;
  if (format === 'json') {
    const lines = mapping?.lines && textLines[mapping.lines];
    return recordReaderOf({ format, framing: given.framing ?? 'none', lines });
  }
  invariant(schemas !== undefined, 'records with a schema id have a registry');
  return recordReaderOf({ format, framing: 'confluent', schemas, message: given.message });
}
