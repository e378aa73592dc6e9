import type { Span } from '../../span.ts';
import type { Preset } from '../presets/preset.ts';
import { CompiledPresets } from './compiled-presets.ts';
import { PresetInterpreter } from './preset-interpreter.ts';
import { ValuesOfSpan } from './span-values.ts';

/** Says what presets make of spans that were read as a whole. */
export class SpanInterpreter {
  readonly #values: ValuesOfSpan;
  readonly presets: PresetInterpreter;

  /** @param own as of `CompiledPresets`. */
  constructor(presets: readonly Preset[], own: readonly string[] = []) {
    const compiled = new CompiledPresets(presets, own);
    this.#values = new ValuesOfSpan(compiled.names);
    this.presets = new PresetInterpreter(compiled, this.#values);
  }

  /** Returns the interpreter, which looks at a span until the next call. */
  of(span: Span): PresetInterpreter {
    this.#values.begin(span);
    return this.presets;
  }
}
