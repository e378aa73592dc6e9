import type { AssembleSettings } from '../../assemble/assemble-settings.ts';
import { outcomeOf } from '../../assemble/event/trace-outcome.ts';
import { childrenRules, type TraceRules } from '../../assemble/event/trace-rules.ts';
import { traceSpanOf } from '../../assemble/event/trace-span-of.ts';
import { freshStart, TraceAssembler } from '../../assemble/trace-assembler.ts';
import type { DraftSink, Origin } from '../../formats/format-reader.ts';
import { readZipkinJson } from '../../formats/spans/zipkin-json.ts';
import type { ConvertOptions, FileFormat, InputFile } from '../file-format.ts';
import { jsonValues, tooLongValue } from '../json-values.ts';

/** A file's traces are held until its end. */
const settings: AssembleSettings = {
  waitMs: 1,
  maxTraceMs: Number.MAX_SAFE_INTEGER,
  lateMemoryMs: 1,
  maxOpenTraces: 200_000,
  maxSpansPerTrace: 10_000,
  maxBytes: 512 * 1024 * 1024,
};

/** Traces as Zipkin has them: one event each, its stages by the calls of its root. */
export const zipkinJson: FileFormat = {
  name: 'zipkin_json',
  what: 'Zipkin JSON (v2): traces, one event each; stages are calls to services, and the network',
  recognise: (head) =>
    /^\uFEFF?\s*\[\s*\[?\s*\{/.test(head) && /"traceId"\s*:/.test(head) && /"id"\s*:/.test(head)
      ? 'it is a list of spans with traceId and id'
      : undefined,
  convert: async (files, options, sink) => {
    for (const file of files) await convertFile(file, options, sink);
  },
};

/** The model of a trace that names none is `--model`, else its service. */
function rulesOf({ model }: ConvertOptions): TraceRules {
  const { fields } = childrenRules;
  const sources = fields.model.filter((source) => model === undefined || !source.startsWith('res'));
  return { ...childrenRules, fields: { ...fields, model: sources, request_type: ['span:name'] } };
}

async function convertFile(
  file: InputFile,
  options: ConvertOptions,
  sink: DraftSink,
): Promise<void> {
  const rules = rulesOf(options);
  const assembler = new TraceAssembler(freshStart(0, settings), settings, {
    closed: (trace) => {
      const outcome = outcomeOf(trace, rules);
      const origin: Origin = { bytes: () => Buffer.from(`[{"traceId":"${trace.traceId}"}]`) };
      if ('event' in outcome) {
        sink.draft({ ...outcome.event, model: outcome.event.model ?? options.model }, origin);
      } else sink.reject(outcome.reason, outcome.detail, origin);
    },
    late: () => undefined,
  });
  let offset = 0;
  for await (const text of jsonValues(file.open(), '[{"')) {
    assembler.beginRecord(offset++, 1);
    const kept: Origin = { bytes: () => Buffer.from((text ?? '').slice(0, 1_000)) };
    let index = 0;
    const problem =
      text === undefined
        ? tooLongValue
        : readZipkinJson(text, {
            span: (span, origin) => {
              if (span.traceId !== '') {
                assembler.add(span.traceId, traceSpanOf(span, rules), index++);
              } else sink.reject('no_root', 'A span must have a trace id, and has none.', origin);
            },
            malformed: (detail, origin) => sink.reject('invalid_line', detail, origin),
          });
    if (problem !== undefined) sink.reject('invalid_line', problem, kept);
  }
  if (assembler.openTraces > 0) assembler.tick();
}
