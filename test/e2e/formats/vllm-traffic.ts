import { secondMs } from '../../../src/base/time.ts';
import { type LlmFault, LlmLaw, type LlmRequest } from '../../eval/llm/llm-law.ts';
import { protoOf } from '../../formats/otlp/oracle.ts';
import { changed, llmSpans, type RawSpan } from './llm-spans.ts';

interface Traffic {
  readonly seed: number;
  readonly perSecond: number;
  readonly fromMs: number;
  readonly toMs: number;
  /** Times after `fromMs`. */
  readonly faults: readonly LlmFault[];
}

/** Spans of one export request. */
const spansOfMessage = 400;

/** Export requests of vLLM, as protobuf: its real spans with the times and the tokens of a law. */
export function* vllmTraffic(of: Traffic): Generator<Buffer> {
  const [real = ''] = llmSpans(of.fromMs).requests;
  const law = new LlmLaw(of.seed, of.perSecond);
  let spans: Partial<RawSpan>[] = [];
  for (let afterMs = 0; afterMs < of.toMs - of.fromMs; afterMs += secondMs) {
    for (const request of law.second(afterMs, of.faults)) {
      spans.push(spanOf(request, of.fromMs + afterMs + request.afterMs));
    }
    if (spans.length < spansOfMessage) continue;
    yield protoOf(changed(real, spans));
    spans = [];
  }
  if (spans.length > 0) yield protoOf(changed(real, spans));
}

let made = 0;

/** What changes in a span of vLLM; a request ends at `endMs`. */
function spanOf(request: LlmRequest, endMs: number): Partial<RawSpan> {
  const { queueMs, prefillMs, decodeMs, inputTokens, outputTokens } = request;
  const totalMs = queueMs + prefillMs + decodeMs;
  const n = ++made;
  const seconds = (key: string, ms: number) => ({
    key: `gen_ai.latency.${key}`,
    value: { doubleValue: ms / secondMs },
  });
  const tokens = (key: string, amount: number) => ({
    key: `gen_ai.usage.${key}`,
    value: { intValue: String(amount) },
  });
  return {
    traceId: n.toString(16).padStart(32, '0'),
    spanId: n.toString(16).padStart(16, '0'),
    startTimeUnixNano: nanosecondsOf(endMs - totalMs),
    endTimeUnixNano: nanosecondsOf(endMs),
    attributes: [
      seconds('time_to_first_token', queueMs + prefillMs),
      seconds('e2e', totalMs),
      seconds('time_in_queue', queueMs),
      seconds('time_in_model_prefill', prefillMs),
      seconds('time_in_model_decode', decodeMs),
      tokens('prompt_tokens', inputTokens),
      tokens('completion_tokens', outputTokens),
      { key: 'gen_ai.request.id', value: { stringValue: `chatcmpl-${n}` } },
    ],
  };
}

const nanosecondsOf = (ms: number) => String(BigInt(Math.round(ms)) * 1_000_000n);
