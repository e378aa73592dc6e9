import { stageName, totalStage } from '../../base/dimensions.ts';
import { limits } from '../../base/limits.ts';
import { toNanosecond } from '../../formats/span.ts';
import { hasParent, haveSameId, idOf, isChild, parentOf, type TraceSpan } from '../trace.ts';
import type { TraceRules } from './trace-rules.ts';

/**
 * Returns the stages of a trace whose root is there, inclusive times summed by name:
 *
 * - spans that the rules name, anywhere below the root; not those inside another one of their stage;
 * - other direct children of the root, by their names, see `stageNameOf`;
 * - of each span that a client and a server share (Zipkin), `downstream:SERVICE`, the server's time, and
 *   `network:SERVICE`, the rest of the client's.
 *
 * Spans without a time are left out, and so is what the rules name without a way to the root. Only durations
 * count, so clocks that differ change nothing.
 */
export function stagesOf(
  spans: readonly TraceSpan[],
  root: TraceSpan,
  { stageOf, otherChildren }: TraceRules,
): Record<string, number> {
  const stages: Record<string, number> = {};
  const servers = sharedOf(spans);
  let byId: ReadonlyMap<string, TraceSpan> | undefined;
  const isBelow = (span: TraceSpan, top: TraceSpan, stage: string) => {
    byId ??= new Map(spans.map((each) => [idOf(each), each]));
    return reaches(span, top, byId, (ancestor) => stageOf.get(ancestor.name) === stage);
  };
  for (const span of spans) {
    const { durationMs, isShared, name, endIsSet } = span;
    if (durationMs === undefined || durationMs < 0 || !endIsSet) continue;
    const server = isShared ? undefined : servers?.find((half) => haveSameId(half, span));
    if (server?.durationMs !== undefined && server.durationMs >= 0) {
      add(stages, stageNameOf(`downstream:${server.service}`), server.durationMs);
      const restMs = toNanosecond(durationMs - server.durationMs);
      add(stages, stageNameOf(`network:${server.service}`), Math.max(0, restMs));
    } else if (span !== root && hasParent(span)) {
      const named = stageOf.get(name);
      const isDirect = isChild(span, root);
      const isOther = isDirect && otherChildren === 'stage';
      const stage = named ?? (isOther ? stageNameOf(name) : undefined);
      if (stage === undefined || (isShared && isHalf(span, spans))) continue;
      if (!isDirect && !isBelow(span, root, stage)) continue;
      add(stages, stage, durationMs);
    }
  }
  return stages;
}

/** Returns the servers' halves of shared spans; undefined where there are none. */
function sharedOf(spans: readonly TraceSpan[]): TraceSpan[] | undefined {
  let servers: TraceSpan[] | undefined;
  for (const span of spans) {
    if (!span.isShared || (span.idHigh | span.idLow) === 0) continue;
    servers ??= [];
    servers.push(span);
  }
  return servers;
}

/** Stage of the spans beyond the stages that an event may name. */
const OTHER = 'other_spans';

function add(stages: Record<string, number>, stage: string, ms: number): void {
  const before = stages[stage];
  if (before !== undefined) stages[stage] = toNanosecond(before + ms);
  else if (Object.keys(stages).length < limits.stagesPerEvent - 1) stages[stage] = ms;
  else stages[OTHER] = toNanosecond((stages[OTHER] ?? 0) + ms);
}

/**
 * Returns the name of a span as that of a stage: what such a name may not have becomes `_`, and a name that does
 * not begin with a letter gets `span_` before it, as `total` does.
 */
export function stageNameOf(span: string): string {
  if (stageName.test(span) && span !== totalStage) return span;
  const name = span.replace(/[^A-Za-z0-9_.:/-]+/g, '_');
  return (/^[A-Za-z]/.test(name) && name !== totalStage ? name : `span_${name}`).slice(0, 64);
}

/** True if the client's half of a shared span is there too. */
function isHalf(span: TraceSpan, spans: readonly TraceSpan[]): boolean {
  return spans.some((other) => !other.isShared && haveSameId(other, span));
}

/** Ancestors that are followed: beyond, the parents form a circle. */
const MAX_DEPTH = 1_000;

/** True if a span's ancestors lead to the root, without one of its stage. */
function reaches(
  span: TraceSpan,
  root: TraceSpan,
  byId: ReadonlyMap<string, TraceSpan>,
  isOfStage: (ancestor: TraceSpan) => boolean,
): boolean {
  let at: TraceSpan | undefined = span;
  for (let depth = 0; depth < MAX_DEPTH; depth++) {
    at = byId.get(parentOf(at));
    if (at === undefined) return false;
    if (haveSameId(at, root)) return true;
    if (isOfStage(at)) return false;
  }
  return false;
}
