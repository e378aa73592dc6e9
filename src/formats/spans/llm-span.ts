import type { Status } from '../../base/statuses.ts';
import type { DraftSink, EventDraft, Origin } from '../format-reader.ts';
import type { Attributes, AttributeValue, Span } from './span.ts';

/** Names of attributes, the first that a span has counts. Conventions have changed them over time. */
const names = {
  model: ['gen_ai.response.model', 'gen_ai.request.model', 'llm.model_name'],
  id: ['gen_ai.request.id', 'gen_ai.response.id'],
  inputTokens: [
    'gen_ai.usage.input_tokens',
    'gen_ai.usage.prompt_tokens',
    'llm.token_count.prompt',
  ],
  outputTokens: [
    'gen_ai.usage.output_tokens',
    'gen_ai.usage.completion_tokens',
    'llm.token_count.completion',
  ],
} as const;

/** Operations of a client span that are one call to a model. Agents, tools and chains are around such calls. */
const modelCalls = new Set(['chat', 'text_completion', 'generate_content', 'embeddings']);
/** Events that mark the first token: of OpenLLMetry, one a token, and of OpenInference. */
const firstTokenEvents = new Set(['gen_ai.content.completion.chunk', 'First Token Stream Event']);

const round = (ms: number) => Math.round(ms * 1e6) / 1e6;

/**
 * Makes an event of one span that has everything: a request of vLLM or SGLang, or a client's call to a model
 * (OpenTelemetry's GenAI conventions, OpenLLMetry, OpenInference). Any other span is no event, by intent: roots and
 * agents last as long as the calls within, and would count them twice.
 *
 * The same names mean different things in the two servers. vLLM's prefill begins where the queue ends. SGLang's begins
 * when the request is sent on, so its queue is inside: `queue_prefill`.
 */
export function readLlmSpan(span: Span, origin: Origin, sink: DraftSink): void {
  const kind = kindOf(span);
  if (kind === undefined) {
    sink.skip(1);
    return;
  }
  const { durationMs, name } = span;
  if (durationMs === undefined) {
    sink.reject('no_end', `Span ${shown(name)} must have an end: it is 0`, origin);
  } else if (durationMs < 0) {
    const detail = `Span ${shown(name)} must end after its start: it ends ${-durationMs} ms before`;
    sink.reject('ends_before_start', detail, origin);
  } else {
    sink.draft(kind === 'server' ? ofServer(span, durationMs) : ofClient(span, durationMs), origin);
  }
}

const shown = (name: string) => JSON.stringify(name.slice(0, 80));

function kindOf({ attributes }: Span): 'server' | 'client' | undefined {
  if (attributes.has('gen_ai.latency.e2e')) return 'server';
  const operation = attributes.get('gen_ai.operation.name');
  if (operation !== undefined) return modelCalls.has(String(operation)) ? 'client' : undefined;
  return attributes.get('openinference.span.kind') === 'LLM' ? 'client' : undefined;
}

/** The span ends a little after the request, so the total is the server's own. */
function ofServer(span: Span, durationMs: number): EventDraft {
  const { attributes } = span;
  const seconds = (name: string) => {
    const value = attributes.get(`gen_ai.latency.${name}`);
    return typeof value === 'number' ? round(value * 1e3) : undefined;
  };
  const queue = seconds('time_in_queue');
  const prefill = seconds('time_in_model_prefill');
  return {
    ...common(span),
    total_ms: seconds('e2e') ?? durationMs,
    stages_ms: withoutAbsent({
      queue,
      [queue === undefined ? 'queue_prefill' : 'prefill']: prefill,
      decode: seconds('time_in_model_decode'),
      first_token: seconds('time_to_first_token'),
    }),
  };
}

function ofClient(span: Span, durationMs: number): EventDraft {
  const given = span.attributes.get('gen_ai.response.time_to_first_chunk');
  const event = span.events.find(({ name }) => firstTokenEvents.has(name));
  const firstToken = typeof given === 'number' ? round(given * 1e3) : event?.afterMs;
  return {
    ...common(span),
    total_ms: durationMs,
    stages_ms: withoutAbsent({ first_token: firstToken }),
  };
}

function common({ attributes, resource, traceId, startMs, isError }: Span): EventDraft {
  const service = resource.get('service.name');
  return {
    ts: startMs,
    // vLLM names no model, and a failed span of OpenInference has it in its parameters only.
    model: text(first(attributes, names.model) ?? invokedModel(attributes) ?? service),
    service: text(service),
    id: text(first(attributes, names.id)),
    trace_id: traceId === '' ? undefined : traceId,
    status: statusOf(isError, attributes.get('error.type')),
    input_tokens: number(first(attributes, names.inputTokens)),
    output_tokens: number(first(attributes, names.outputTokens)),
  };
}

function statusOf(isError: boolean, errorType: AttributeValue | undefined): Status {
  if (!isError && errorType === undefined) return 'ok';
  const type = String(errorType ?? '');
  if (/time_?out|deadline/i.test(type) || type === '408' || type === '504') return 'timeout';
  return /cancel/i.test(type) || type === '499' ? 'cancelled' : 'error';
}

function invokedModel(attributes: Attributes): AttributeValue | undefined {
  const parameters = attributes.get('llm.invocation_parameters');
  if (typeof parameters !== 'string') return undefined;
  return /"model"\s*:\s*"([^"\\]+)"/.exec(parameters)?.[1];
}

function first(attributes: Attributes, wanted: readonly string[]): AttributeValue | undefined {
  for (const name of wanted) {
    const value = attributes.get(name);
    if (value !== undefined && value !== '') return value;
  }
  return undefined;
}

function text(value: AttributeValue | undefined): string | undefined {
  return value === undefined ? undefined : String(value);
}

function number(value: AttributeValue | undefined): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

function withoutAbsent(
  stages: Readonly<Record<string, number | undefined>>,
): Record<string, number> {
  const found: Record<string, number> = {};
  for (const [name, ms] of Object.entries(stages)) if (ms !== undefined) found[name] = ms;
  return found;
}
