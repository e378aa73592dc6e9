import { type Interval, ModelStages, ownTime } from '../../formats/model-stages.ts';
import type { Span } from '../../formats/span.ts';
import { toNanosecond } from '../../formats/span.ts';
import { textFrom } from '../../formats/spans/rules/span-values.ts';

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
 * queue, one below that its computation. The stages of the models that an ensemble runs or a model calls,
 * at any depth, are prefixed by their names; what runs several times adds up. A caller's own stages are without
 * the time of what it called.
 */
export function tritonRequestOf(root: Span, spans: readonly Span[]): TritonRequest {
  const children = new Map<string, Span[]>();
  for (const span of spans) {
    const siblings = children.get(span.parentSpanId);
    if (siblings === undefined) children.set(span.parentSpanId, [span]);
    else siblings.push(span);
  }
  const childrenOf = ({ spanId }: Span) => (spanId === '' ? [] : (children.get(spanId) ?? []));
  const stages = new ModelStages();
  const [ingress, egress] = ofRequest as [Between, Between];
  addBetween(stages, undefined, root, ingress, []);
  const model = childrenOf(root).find(isModel);
  const waiting = model === undefined ? [] : [model];
  // Ids that are not unique may make a circle.
  const passed = new Set<Span>(waiting);
  for (let span = waiting.pop(); span !== undefined; span = waiting.pop()) {
    const parts = childrenOf(span);
    const computes = parts.filter(({ name }) => name === computeName);
    // A model's calls are below it, or below its computation.
    const called = [parts, ...computes.map(childrenOf)].flat().filter(isModel);
    const named = textFrom(span.attributes, 'triton.model_name') ?? 'part';
    const name = span === model ? undefined : named;
    for (const compute of computes) addModel(stages, name, span, compute, called);
    for (const each of byStart(called).reverse()) {
      if (passed.has(each)) continue;
      passed.add(each);
      waiting.push(each);
    }
  }
  addBetween(stages, undefined, root, egress, []);
  return { model, stages: stages.ms };
}

const isModel = ({ attributes }: Span) => attributes.has('triton.model_name');

function byStart(spans: readonly Span[]): Span[] {
  const startOf = ({ startMs = 0, startNs }: Span) => startMs + startNs / 1e6;
  return [...spans].sort((a, b) => startOf(a) - startOf(b));
}

function addModel(
  stages: ModelStages,
  name: string | undefined,
  model: Span,
  compute: Span,
  called: readonly Span[],
): void {
  const queuedMs = timeOf(model, 'QUEUE_START');
  const startedMs = timeOf(compute, 'COMPUTE_START');
  if (queuedMs !== undefined && startedMs !== undefined) {
    stages.add(name, 'queue', startedMs + sinceMs(model, compute) - queuedMs);
  }
  const intervals = called.map((span): Interval => {
    const startMs = sinceMs(compute, span);
    return [startMs, startMs + (span.durationMs ?? 0)];
  });
  for (const between of ofCompute) addBetween(stages, name, compute, between, intervals);
}

/** Milliseconds from one span's start to another's. */
function sinceMs(from: Span, to: Span): number {
  return toNanosecond((to.startMs ?? 0) - (from.startMs ?? 0) + (to.startNs - from.startNs) / 1e6);
}

function addBetween(
  stages: ModelStages,
  name: string | undefined,
  span: Span,
  { stage, from, to }: Between,
  called: readonly Interval[],
): void {
  const [startMs, endMs] = [timeOf(span, from), timeOf(span, to)];
  if (startMs === undefined || endMs === undefined) return;
  stages.add(name, stage, ownTime([startMs, endMs], called));
}

function timeOf({ events }: Span, name: string): number | undefined {
  return events.find((event) => event.name === name)?.sinceStartMs;
}
