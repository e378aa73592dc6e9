import type { DraftSink, EventDraft } from '../../formats/format-reader.ts';
import { spanPresets } from '../../formats/spans/presets/span-presets.ts';
import type { Span } from '../../formats/spans/span.ts';
import { emitSpan } from '../../formats/spans/span-events.ts';
import type { SpanReader } from '../../formats/spans/span-reader.ts';
import type { ConvertOptions, InputFile } from '../file-format.ts';
import { jsonValues, tooLongValue } from '../json-values.ts';

/** How a format has its spans. */
export interface SpanForm {
  readonly read: SpanReader;
  /** How a line begins that cannot be inside another value. */
  readonly start?: string;
  /** Says what a format knows better than the presets. */
  readonly finish?: (event: EventDraft, span: Span) => EventDraft;
}

/** Longest part of a text that cannot be read which goes into a dead letter. */
const maxCharsKept = 64 * 1024;

/** Converts files of spans, each an event of its own or none. `--model` is that of spans which name none. */
export async function convertSpans(
  files: readonly InputFile[],
  { read, start, finish = (event) => event }: SpanForm,
  { model }: ConvertOptions,
  sink: DraftSink,
): Promise<void> {
  const complete = (event: EventDraft, span: Span) => {
    const finished = finish(event, span);
    return { ...finished, model: finished.model ?? model };
  };
  const presets = spanPresets();
  for (const file of files) {
    for await (const text of jsonValues(file.open(), start)) {
      const kept = () => Buffer.from((text ?? '').slice(0, maxCharsKept));
      const problem =
        text === undefined
          ? tooLongValue
          : read(text, {
              span: (span, origin) => emitSpan(span, origin, presets, sink, complete),
              malformed: (detail, origin) => sink.reject('invalid_line', detail, origin),
            });
      if (problem !== undefined) sink.reject('invalid_line', problem, { bytes: kept });
    }
  }
}
