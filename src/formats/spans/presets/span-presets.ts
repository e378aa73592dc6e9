import { genai } from './genai.ts';
import type { Preset } from './preset.ts';
import { sglang } from './sglang.ts';
import { vllm } from './vllm.ts';

/** Rules of spans that are requests, by the name that a configuration has for them. */
const presets: Readonly<Record<string, readonly Preset[]>> = {
  vllm: [vllm],
  sglang: [sglang],
  genai,
};

/** Returns the rules that a name stands for; without a name all, in the order in which they are asked. */
export function spanPresets(name?: string): readonly Preset[] {
  return name === undefined ? Object.values(presets).flat() : (presets[name] ?? []);
}
