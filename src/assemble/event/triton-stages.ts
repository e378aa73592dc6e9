import type { Span } from '../../formats/spans/span.ts';
import { toNanosecond } from '../../formats/spans/span.ts';
import { textFrom } from '../../formats/spans/span-events.ts';

/** A stage between two events of Triton's spans. */
interface Between {
  readonly stage: string;
  readonly from: string;
  readonly to: string;
}

const ofRequest: readonly Between[] = [
  { stage: 'ingress', from: 'HTTP_RECV_START', to: 'HTTP_RECV_END' },
  { stage: 'egress', from: 'HTTP_SEND_START', to: 'HTTP_SEND_END' },
];
const ofCompute: readonly Between[] = [
  { stage: 'preprocess', from: 'COMPUTE_START', to: 'COMPUTE_INPUT_END' },
  { stage: 'forward', from: 'COMPUTE_INPUT_END', to: 'COMPUTE_OUTPUT_START' },
  { stage: 'postprocess', from: 'COMPUTE_OUTPUT_START', to: 'COMPUTE_END' },
];
const computeName = 'compute';

export interface TritonRequest {
  /** The span of the model that was asked for; of an ensemble, the ensemble's. */
  readonly model: Span | undefined;
  readonly stages: Readonly<Record<string, number>>;
}

/**
 * Returns the stages of a trace of Triton's: the root has the request's times, a span below it the model's
 * queue, one below that its computation. The stages of an ensemble's models are prefixed by their names.
 */
export function tritonRequestOf(root: Span, spans: readonly Span[]): TritonRequest {
  const children = new Map<string, Span[]>();
  for (const span of spans) {
    const siblings = children.get(span.parentSpanId);
    if (siblings === undefined) children.set(span.parentSpanId, [span]);
    else siblings.push(span);
  }
  const childrenOf = ({ spanId }: Span) => (spanId === '' ? [] : (children.get(spanId) ?? []));
  const stages: Record<string, number> = {};
  const [ingress, egress] = ofRequest as [Between, Between];
  addBetween(stages, '', root, ingress);
  const model = childrenOf(root).find((span) => span.attributes.has('triton.model_name'));
  if (model !== undefined) {
    const parts = childrenOf(model);
    const isEnsemble = parts.some(({ attributes }) => attributes.has('triton.model_name'));
    if (!isEnsemble) addModel(stages, '', model, parts);
    for (const part of isEnsemble ? byStart(parts) : []) {
      const name = textFrom(part.attributes, 'triton.model_name');
      if (name !== undefined) addModel(stages, `${name}.`, part, childrenOf(part));
    }
  }
  addBetween(stages, '', root, egress);
  return { model, stages };
}

function byStart(spans: readonly Span[]): Span[] {
  const startOf = ({ startMs = 0, startNs }: Span) => startMs + startNs / 1e6;
  return [...spans].sort((a, b) => startOf(a) - startOf(b));
}

function addModel(
  stages: Record<string, number>,
  prefix: string,
  model: Span,
  parts: readonly Span[],
): void {
  for (const compute of parts) {
    if (compute.name !== computeName) continue;
    const queuedMs = timeOf(model, 'QUEUE_START');
    const startedMs = timeOf(compute, 'COMPUTE_START');
    if (queuedMs !== undefined && startedMs !== undefined) {
      add(stages, `${prefix}queue`, startedMs + sinceMs(model, compute) - queuedMs);
    }
    for (const between of ofCompute) addBetween(stages, prefix, compute, between);
  }
}

/** Milliseconds from one span's start to another's. */
function sinceMs(from: Span, to: Span): number {
  return toNanosecond((to.startMs ?? 0) - (from.startMs ?? 0) + (to.startNs - from.startNs) / 1e6);
}

function addBetween(
  stages: Record<string, number>,
  prefix: string,
  span: Span,
  { stage, from, to }: Between,
): void {
  const [startMs, endMs] = [timeOf(span, from), timeOf(span, to)];
  if (startMs !== undefined && endMs !== undefined) add(stages, prefix + stage, endMs - startMs);
}

/** Times of one clock that go back are left out. */
function add(stages: Record<string, number>, stage: string, ms: number): void {
  if (ms >= 0) stages[stage] = toNanosecond((stages[stage] ?? 0) + ms);
}

function timeOf({ events }: Span, name: string): number | undefined {
  return events.find((event) => event.name === name)?.sinceStartMs;
}
