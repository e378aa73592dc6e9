import type { DraftSink, EventDraft } from '../../formats/format-reader.ts';
import {
  type JsonObject,
  jsonBytes,
  listOf,
  notJson,
  objectOf,
  parsed,
  textOf,
} from '../../formats/loose-json.ts';
import { compileMapping } from '../../formats/mapping/compile-mapping.ts';
import { mappingSchema } from '../../formats/mapping/mapping-schema.ts';
import { eachFile, type FileFormat } from '../file-format.ts';
import { jsonValues, tooLongValue } from '../json-values.ts';

/** Longest part of a text that cannot be read which goes into a dead letter. */
const maxCharsKept = 64 * 1024;

/** `latency` is in seconds or milliseconds, by the version that exported it: times say which. */
const generation = mappingSchema.parse({
  start: { path: 'startTime' },
  end: { path: 'endTime' },
  stages: [{ name: 'first_token', end: { path: 'completionStartTime' } }],
  model: 'model',
  id: 'id',
  trace_id: 'traceId',
  input_tokens: ['usageDetails.input', 'inputUsage', 'usage.input', 'promptTokens'],
  output_tokens: ['usageDetails.output', 'outputUsage', 'usage.output', 'completionTokens'],
  status: { path: 'level', map: { ERROR: 'error' }, otherwise: 'ok' },
});

/**
 * Traces as Langfuse exports them and as its API gives them, with their observations. An event is a generation that has no other one
 * below it: what an SDK puts around a call of a model would count its time twice.
 */
export const langfuse: FileFormat = {
  name: 'langfuse',
  what: 'Langfuse: exported traces with their observations, JSON',
  recognise: (head) =>
    /^\uFEFF?\s*\{/.test(head) &&
    /"(?:trace"\s*:\s*\{|observations"\s*:\s*\[)/.test(head) &&
    /"projectId"\s*:/.test(head)
      ? 'it has a trace with projectId'
      : undefined,
  convert: eachFile(async (file, { model }, sink) => {
    const map = compileMapping(generation, model);
    for await (const text of jsonValues(file.open())) {
      const kept = { bytes: () => Buffer.from((text ?? '').slice(0, maxCharsKept)) };
      const trace = text === undefined ? undefined : objectOf(parsed(text));
      if (text === undefined) sink.reject('invalid_line', tooLongValue, kept);
      else if (trace === undefined) sink.reject('invalid_line', notJson, kept);
      else if (!Array.isArray(trace.observations)) {
        const detail = 'A trace must have a list of observations, and has none.';
        sink.reject('invalid_line', detail, kept);
      } else convertTrace(listOf(trace.observations), map, sink);
    }
  }),
};

function convertTrace(
  observations: readonly unknown[],
  map: ReturnType<typeof compileMapping>,
  sink: DraftSink,
): void {
  const inner = innermost(observations.map((each) => objectOf(each) ?? {}));
  sink.skip(observations.length - inner.length);
  for (const each of inner) {
    const origin = { bytes: () => jsonBytes((part) => ({ observations: [part] }), each) };
    const mapped = map(each);
    if (mapped === 'skip') sink.skip(1);
    else if ('draft' in mapped) sink.draft(withoutEmpty(mapped.draft), origin);
    else sink.reject(mapped.reason, mapped.detail, origin);
  }
}

/** Only a generation that was streamed has a stage. */
function withoutEmpty({ stages_ms = {}, ...event }: EventDraft): EventDraft {
  return Object.keys(stages_ms).length === 0 ? event : { ...event, stages_ms };
}

/** Generations without one below them, at any depth. Parents that form a circle are passed once. */
function innermost(observations: readonly JsonObject[]): readonly JsonObject[] {
  const parents = new Map(
    observations.map(({ id, parentObservationId }) => [id, parentObservationId]),
  );
  const generations = observations.filter(({ type }) => textOf(type) === 'GENERATION');
  const above = new Set<unknown>();
  for (const { id, parentObservationId } of generations) {
    let at = parentObservationId;
    while (at !== undefined && at !== null && at !== id && !above.has(at)) {
      above.add(at);
      at = parents.get(at);
    }
  }
  return generations.filter(({ id }) => !above.has(id));
}
