import type { DecodeSink, EventDecoder } from '../../../src/decode/event-decoder.ts';
import { Interner } from '../../../src/decode/interner.ts';
import { OtlpProtoDecoder } from '../../../src/formats/otlp/otlp-proto-decoder.ts';
import { SpanDrafts } from '../../../src/formats/otlp/span-drafts.ts';
import { genai } from '../../../src/formats/spans/presets/genai.ts';
import type { Preset } from '../../../src/formats/spans/presets/preset.ts';
import { sglang } from '../../../src/formats/spans/presets/sglang.ts';
import { vllm } from '../../../src/formats/spans/presets/vllm.ts';
import { SpanInterpreter } from '../../../src/formats/spans/rules/span-interpreter.ts';
import { bounds, textsOf } from '../../decode/outcomes.ts';
import { readOtlpProto } from './read-otlp-proto.ts';

export const allPresets: readonly Preset[] = [vllm, sglang, ...genai];

/** What became of an item of a message. */
export type Outcome =
  | 'skipped'
  | ReturnType<typeof textsOf>
  | { readonly index: number; readonly reason: string; readonly detail: string };

/** @param capacity of each interner. */
export function testOptions(presets = allPresets, capacity = 100_000) {
  const stages = new Interner(capacity);
  const values = new Interner(capacity);
  return { stages, values, maxMessageBytes: 16 << 20, ...bounds, presets };
}

/** A sink that keeps all, and of each item its letter. */
export function keepingSink(
  options: ReturnType<typeof testOptions>,
  letter: (start: number, end: number) => Buffer | null = () => null,
) {
  const outcomes: Outcome[] = [];
  const letters: (Buffer | null)[] = [];
  const sink: DecodeSink = {
    event: (event, start, end) => {
      outcomes.push(textsOf(event, options.stages, options.values));
      letters.push(letter(start, end));
    },
    reject: (index, reason, detail, start, end) => {
      outcomes.push({ index, reason, detail });
      letters.push(letter(start, end));
    },
    skip: (count) => {
      for (let i = 0; i < count; i++) {
        outcomes.push('skipped');
        letters.push(null);
      }
    },
  };
  return { outcomes, letters, sink };
}

/** Outcomes of a message by a decoder, with the letters of all that was not skipped. */
export function decodeAll(
  decoder: EventDecoder,
  options: ReturnType<typeof testOptions>,
  message: Buffer | null,
) {
  const kept = keepingSink(options, (start, end) =>
    message === null ? null : Buffer.from(decoder.letter(message, start, end)),
  );
  const count = decoder.decode(message, kept.sink);
  return { outcomes: kept.outcomes, letters: kept.letters, count };
}

export function testProtoDecoder(presets = allPresets, capacity?: number) {
  const options = testOptions(presets, capacity);
  const decoder = new OtlpProtoDecoder(options);
  return {
    decoder,
    options,
    decode: (message: Buffer | null) => decodeAll(decoder, options, message),
  };
}

/** Outcomes by the general path alone, of a message whose envelope is whole. */
export function generalPath(presets = allPresets, capacity?: number) {
  const options = testOptions(presets, capacity);
  const interpreter = new SpanInterpreter(presets);
  const drafts = new SpanDrafts(options, interpreter.presets);
  return (message: Buffer): readonly Outcome[] => {
    const { sink, outcomes } = keepingSink(options);
    drafts.begin(sink);
    const problem = readOtlpProto(message, {
      span: (span, origin) => {
        interpreter.of(span);
        drafts.byPresets(origin, 0, 0);
      },
      malformed: (detail, _, reason = 'invalid_protobuf') => drafts.rejectAt(reason, detail, 0, 0),
    });
    if (problem !== undefined) drafts.rejectAt('invalid_protobuf', problem, 0, message.length);
    return outcomes;
  };
}
