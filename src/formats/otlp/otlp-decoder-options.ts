import type { DecoderOptions } from '../../decode/event-decoder.ts';
import type { Preset } from '../spans/presets/preset.ts';

export interface OtlpDecoderOptions extends DecoderOptions {
  /** In order: each span goes to the first that knows it. */
  readonly presets: readonly Preset[];
  /** Of a span that names none. */
  readonly model?: string | undefined;
}
