import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';

/** A recorded timing event, with its measurements apart from the rest. */
export interface RecordedEvent {
  readonly tsMs: number;
  readonly rest: Readonly<Record<string, unknown>>;
  /** Milliseconds of each stage; the total is the stage `total`. */
  readonly ms: Readonly<Record<string, number>>;
}

interface TimingEvent {
  readonly ts: number;
  readonly total_ms?: number;
  readonly stages_ms?: Readonly<Record<string, number>>;
}

/** Reads NDJSON of timing events, gzipped if the name ends in .gz, in order of their time. */
export function recordedEvents(path: string): RecordedEvent[] {
  const bytes = readFileSync(path);
  const text = (path.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line): RecordedEvent => {
      const { ts, total_ms, stages_ms, ...rest } = JSON.parse(line) as TimingEvent;
      const total = total_ms === undefined ? {} : { total: total_ms };
      return { tsMs: ts, rest, ms: { ...stages_ms, ...total } };
    })
    .sort((a, b) => a.tsMs - b.tsMs);
}

/** Encodes the event as a message. */
export function messageOf({ tsMs, rest, ms }: RecordedEvent): string {
  const { total, ...stages } = ms;
  const isOfStages = Object.keys(stages).length > 0;
  return JSON.stringify({
    ts: tsMs,
    ...rest,
    ...(isOfStages ? { stages_ms: stages } : {}),
    ...(total === undefined ? {} : { total_ms: total }),
  });
}
