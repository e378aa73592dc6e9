import type { AnomalyEvent } from './anomaly-event.ts';

type Evidence = Pick<AnomalyEvent['evidence'], 'history_from'>;

/** The field of the evidence, for a history that is short; none for any other. */
export function historyField(fromMs: number | undefined): Evidence {
  return fromMs === undefined ? {} : { history_from: new Date(fromMs).toISOString() };
}

/** Start of a short history as an event has it. */
export function historyFromMsOf({ history_from }: Evidence): number | undefined {
  return history_from === undefined ? undefined : Date.parse(history_from);
}

/** "known since 2026-11-29 09:14 UTC only: the history before was not read"; undefined of any other history. */
export function historyText({ history_from: from }: Evidence): string | undefined {
  if (from === undefined) return undefined;
  return `known since ${minuteText(from)} only: the history before was not read`;
}

/** Ends a summary by what is not known. */
export function withHistory(summary: string, evidence: Evidence): string {
  const text = historyText(evidence);
  return text === undefined ? summary : `${summary}; ${text}`;
}

/** "2026-11-29 09:14 UTC". */
export function minuteText(iso: string): string {
  return `${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC`;
}
