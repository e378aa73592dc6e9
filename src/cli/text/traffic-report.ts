import type { Sent } from '../../generate/publish/send-paced.ts';
import type { Io } from '../io.ts';

export interface TrafficReport {
  /** "Generated" or "Replayed". */
  readonly did: string;
  readonly target: string;
  readonly sent: Sent;
  readonly elapsedMs: number;
  /** True where a signal ended it before all was sent. */
  readonly interrupted: boolean;
  /** Fields of the command, in snake_case. */
  readonly extra?: Readonly<Record<string, unknown>>;
  /** Additional sentence for people. */
  readonly note?: string;
}

/**
 * Reports the sent messages: one line of JSON, or one for people on standard error.
 *
 * @param print destination of JSON: standard error if standard output has the events
 */
export function printTrafficReport(
  report: TrafficReport,
  options: { readonly json: boolean; readonly print: (text: string) => void },
  io: Io,
): void {
  const { did, target, sent, elapsedMs, interrupted, extra = {}, note } = report;
  const perSecond = elapsedMs <= 0 ? 0 : Math.round((sent.lines / elapsedMs) * 1_000);
  if (options.json) {
    const result = {
      ok: true,
      events: sent.lines,
      messages: sent.messages,
      bytes: sent.bytes,
      elapsed_ms: elapsedMs,
      events_per_second: perSecond,
      last_ts: sent.lastDueMs ?? null,
      target,
      interrupted,
      ...extra,
    };
    options.print(`${JSON.stringify(result)}\n`);
    return;
  }
  const amount = `${count(sent.lines)} events in ${count(sent.messages)} messages`;
  const speed = `${(elapsedMs / 1_000).toFixed(1)} s, ${count(perSecond)} events/s`;
  const stopped = interrupted ? ' Interrupted: this is what was sent before.' : '';
  io.err(`${did} ${amount} to ${target} (${speed}).${stopped}${note ? ` ${note}` : ''}\n`);
}

function count(value: number): string {
  return value.toLocaleString('en-US');
}
