import type { RejectReason } from '../../decode/reject-reasons.ts';
import type { EventDraft } from '../../formats/format-reader.ts';
import type { Span } from '../../formats/span.ts';
import { fieldsOf } from '../../formats/spans/rules/span-fields.ts';
import {
  type ClosedTrace,
  hasParent,
  haveSameId,
  idOf,
  parentOf,
  type TraceSpan,
} from '../trace.ts';
import type { TraceRules } from './trace-rules.ts';
import { stagesOf } from './trace-stages.ts';
import { tritonRequestOf } from './triton-stages.ts';

/** An event, or why there is none. */
export type TraceOutcome =
  | { readonly event: EventDraft }
  | { readonly reason: RejectReason; readonly detail: string };

const rejected = (reason: RejectReason, detail: string): TraceOutcome => ({ reason, detail });

/** Returns the event of a trace: a request that its root is, with its stages. Nothing makes it throw. */
export function outcomeOf(trace: ClosedTrace, rules: TraceRules): TraceOutcome {
  const { spans, spansLeftOut, cause } = trace;
  if (cause === 'max_open_traces' || cause === 'max_bytes') {
    const detail = `The trace must not be closed early, and was: assemble.${cause} was reached.`;
    return rejected('too_many_traces', detail);
  }
  if (spansLeftOut > 0) {
    const detail = `The trace must have at most assemble.max_spans spans, and has ${spans.length + spansLeftOut}.`;
    return rejected('too_many_spans', detail);
  }
  const roots = rootsOf(trace, rules);
  const [root] = roots;
  if (root?.fields === undefined) {
    const none =
      spans.length === 1 ? 'its only span is none' : `none of its ${spans.length} spans is one`;
    const detail = `The trace must have a root, and ${none}${hintOf(rules, cause)}.`;
    return rejected('no_root', detail);
  }
  if (roots.length > 1) return severalRoots(roots, rules);
  if (!root.endIsSet) {
    return rejected('no_end', 'The end of the root must be set, and is 0 or no time.');
  }
  const { durationMs } = root;
  if (durationMs !== undefined && durationMs < 0) {
    const detail = `The root must not end before it starts, and ends ${-durationMs} ms before.`;
    return rejected('ends_before_start', detail);
  }
  return { event: eventOf(trace, root, rules) };
}

function severalRoots(roots: readonly TraceSpan[], { rootNames }: TraceRules): TraceOutcome {
  const names = [...new Set(roots.map(({ name }) => name))].slice(0, 5).join(', ');
  const found = `${roots.length} (${names}): set root_names of its topic.`;
  // Each of several may be a part of what is missing.
  return rootNames.size === 0 && roots.some(hasParent)
    ? rejected(
        'no_root',
        `The trace must have one span whose parent is elsewhere, and has ${found}`,
      )
    : rejected('several_roots', `The trace must have one root, and has ${found}`);
}

function hintOf({ rootNames }: TraceRules, cause: ClosedTrace['cause']): string {
  if (cause === 'max_trace') return ' (closed after assemble.max_trace)';
  return rootNames.size > 0 ? ` (root_names: ${[...rootNames].join(', ')})` : '';
}

/** Of the halves of a shared span the client's is the root. */
function rootsOf({ spans, cause }: ClosedTrace, { rootNames }: TraceRules): readonly TraceSpan[] {
  let roots: TraceSpan[] = [];
  for (const span of spans) {
    if (rootNames.size > 0 ? rootNames.has(span.name) : !hasParent(span)) roots.push(span);
  }
  if (roots.length === 0 && rootNames.size === 0 && cause === 'wait') roots = entriesOf(spans);
  if (roots.length < 2) return roots;
  return roots.filter(
    (root) => !root.isShared || !roots.some((other) => !other.isShared && haveSameId(other, root)),
  );
}

/**
 * Returns the spans by which a request enters from a process that writes no spans: their parent is not in the
 * trace. Of a trace that is closed while spans still come, the parent may be among these.
 */
function entriesOf(spans: readonly TraceSpan[]): TraceSpan[] {
  const ids = new Set(spans.map(idOf));
  return spans.filter((span) => span.fields !== undefined && !ids.has(parentOf(span)));
}

function eventOf({ spans, traceId }: ClosedTrace, root: TraceSpan, rules: TraceRules): EventDraft {
  const { durationMs, fields } = root;
  if (rules.stagesFrom === 'triton' && root.full !== undefined) {
    const weight = fields?.weight ?? rules.weight;
    const event = { ...fields, trace_id: longerId(fields?.trace_id, traceId), weight };
    return tritonEventOf(root.full, spans, rules, { ...event, total_ms: durationMs });
  }
  const { ts, model, version, request_type, service, host, region, tenant, id } = fields ?? {};
  const { trace_id, status, batch_size, input_tokens, output_tokens, weight } = fields ?? {};
  const { attributes } = fields ?? {};
  // A literal: a spread of so many fields costs more than the stages.
  return {
    ts,
    model,
    version,
    request_type,
    service,
    host,
    region,
    tenant,
    id,
    trace_id: longerId(trace_id, traceId),
    status,
    batch_size,
    input_tokens,
    output_tokens,
    weight: weight ?? rules.weight,
    attributes,
    total_ms: durationMs,
    stages_ms: stagesOf(spans, root, rules),
  };
}

/** Another span of the trace may have more of its id than the root has. */
function longerId(ofRoot: unknown, ofTrace: string): unknown {
  return typeof ofRoot === 'string' && ofTrace.length > ofRoot.length ? ofTrace : ofRoot;
}

/** Triton's model and request are on the span below the root, and no request says that it failed. */
function tritonEventOf(
  root: Span,
  spans: readonly TraceSpan[],
  { fields }: TraceRules,
  event: EventDraft,
): EventDraft {
  const { model: named = root, stages } = tritonRequestOf(
    root,
    spans.flatMap((span) => span.full ?? []),
  );
  const { status, ...others } = event;
  const { model, version, id } = fieldsOf(named, fields);
  return {
    ...others,
    ...(root.statusCode === 0 ? {} : { status }),
    model,
    version,
    id,
    stages_ms: stages,
  };
}
