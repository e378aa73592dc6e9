import type { DecoderOptions, EventDecoder } from '../decode/event-decoder.ts';
import { MessageDecoder } from '../decode/message-decoder.ts';
import { OtlpJsonDecoder } from '../formats/otlp/otlp-json-decoder.ts';
import { OtlpProtoDecoder } from '../formats/otlp/otlp-proto-decoder.ts';
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

/** Opens the decoder of a format. */
export function openDecoder({ given }: FormatPlan, options: DecoderOptions): EventDecoder {
  const { format = 'timing', preset, model } = given;
  switch (format) {
    case 'otlp_json':
      return new OtlpJsonDecoder({ ...options, presets: presetsOf(preset), model });
    case 'otlp_proto':
      return new OtlpProtoDecoder({ ...options, presets: presetsOf(preset), model });
    default:
      return new MessageDecoder(options);
  }
}

/** The rules of spans that a preset names; of all presets without one. */
function presetsOf(name: string | undefined): readonly Preset[] {
  return name === undefined ? Object.values(presets).flat() : (presets[name] ?? []);
}
