import type { Status } from '../../../base/statuses.ts';
import type { EventDraft } from '../../../formats/format-reader.ts';
import { toNanosecond } from '../../../formats/span.ts';
import type { Report } from './lambda-line.ts';
import type { Invocation } from './sandbox.ts';

/** A sandbox that waits for a request begins with it at once; one that came up ahead was idle for longer. */
const AT_ONCE_MS = 500;

/** Time that an invocation waited for its sandbox, by stage. */
interface Waited {
  readonly init: number | undefined;
  readonly restore: number | undefined;
}

/**
 * Returns the event of a reported invocation; undefined where its REPORT has no Duration.
 *
 * An initialisation ahead of START is not in Duration. It counts where the invocation waited for it. One that
 * is repeated within the invocation is in Duration, and is taken out of `forward` where a line says how long it
 * took.
 */
export function eventOfInvocation(
  invocation: Invocation,
  report: Report,
  model: string,
): EventDraft | undefined {
  const { durationMs } = report;
  if (durationMs === undefined) return undefined;
  const { id, startMs, reportMs = 0, preparation, isPreparedWithin } = invocation;
  const before = waitedOf(invocation, report, startMs ?? reportMs - durationMs);
  const beforeMs = (before.init ?? 0) + (before.restore ?? 0);
  const withinMs = Math.min(durationMs, invocation.preparedWithinMs);
  const init = withinMs === 0 ? before.init : toNanosecond((before.init ?? 0) + withinMs);
  const totalMs = toNanosecond(durationMs + beforeMs);
  const isAgain = isPreparedWithin || preparation?.hasFailed === true;
  return {
    ts: Math.round(startMs === undefined ? reportMs - totalMs : startMs - beforeMs),
    model,
    id,
    ...(report.traceId === undefined ? {} : { trace_id: report.traceId }),
    cold_start: before.init !== undefined || before.restore !== undefined || isAgain,
    status: statusOf(report.status, invocation.outcome),
    total_ms: totalMs,
    stages_ms: {
      ...(init === undefined ? {} : { init }),
      ...(before.restore === undefined ? {} : { restore: before.restore }),
      forward: toNanosecond(durationMs - withinMs),
    },
  };
}

/** @param beginMs when the invocation began, by its START line or its REPORT. */
function waitedOf({ preparation }: Invocation, report: Report, beginMs: number): Waited {
  const { initMs, restoreMs } = report;
  if (preparation === undefined) return { init: initMs, restore: restoreMs };
  const { what, startMs, endMs, durationMs, isAhead, hasFailed } = preparation;
  const reportedMs = what === 'init' ? initMs : restoreMs;
  const tookMs = reportedMs ?? (hasFailed || what === 'restore' ? durationMs : undefined);
  const doneMs = endMs ?? (startMs ?? Number.NaN) + (tookMs ?? 0);
  const hasWaited = !isAhead && !(beginMs - doneMs > AT_ONCE_MS);
  const ms = hasWaited ? tookMs : undefined;
  return what === 'init' ? { init: ms, restore: restoreMs } : { init: initMs, restore: ms };
}

function statusOf(reported: string | undefined, outcome: Status | undefined): Status {
  if (outcome === 'timeout' || reported === 'timeout') return 'timeout';
  if (reported === undefined) return outcome ?? 'ok';
  return reported === 'success' ? 'ok' : 'error';
}
