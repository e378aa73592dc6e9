import type { DecoderOptions } from '../../decode/event-decoder.ts';
import type { Preset } from '../spans/presets/preset.ts';
import type { SpanRules } from '../spans/rules/span-rules.ts';

export interface OtlpDecoderOptions extends DecoderOptions {
  /** In order: each span goes to the first that knows it. */
  readonly presets: readonly Preset[];
  /** Instead of presets: make partial events of single spans. */
  readonly rules?: SpanRules | undefined;
  /** Of a span that names none. */
  readonly model?: string | undefined;
}
