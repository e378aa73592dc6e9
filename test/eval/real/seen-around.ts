import { totalStage } from '../../../src/base/dimensions.ts';
import type { AnomalyEvent } from '../../../src/contract/anomaly-event.ts';
import type { RecordedEvent } from './recorded-events.ts';

/** Evidence of a page in the requests themselves: its quantile before it and while it lasted. */
export interface SeenAround {
  readonly before: { readonly requests: number; readonly ms: number };
  readonly during: { readonly requests: number; readonly ms: number };
}

const dimensions = ['service', 'model', 'version', 'request_type', 'region'] as const;

/** Measures the baseline time and the covered time of a page by every request of the series. */
export function seenAround(events: readonly RecordedEvent[], opened: AnomalyEvent): SeenAround {
  const fromMs = Date.parse(opened.started_at);
  const normalFromMs = Date.parse(opened.evidence.baseline_from);
  const toMs = Math.max(Date.parse(opened.detected_at), fromMs + 1);
  const stage = opened.evidence.measured_stage;
  const isOurs = ({ rest }: RecordedEvent) =>
    dimensions.every((name) => (rest[name] ?? '') === opened[name]);
  const between = (from: number, to: number) => {
    const values = events
      .filter((event) => event.tsMs >= from && event.tsMs < to && isOurs(event))
      .flatMap((event) => msOf(event, stage) ?? [])
      .sort((a, b) => a - b);
    const at = Math.ceil(opened.quantile * values.length) - 1;
    return { requests: values.length, ms: values[Math.max(0, at)] ?? Number.NaN };
  };
  return { before: between(normalFromMs, fromMs), during: between(fromMs, toMs) };
}

/** A missing total is the sum of the stages, unless the event has only some of them. */
function msOf({ ms, rest }: RecordedEvent, stage: string): number | undefined {
  if (stage !== totalStage || ms[totalStage] !== undefined || rest.partial === true)
    return ms[stage];
  return Object.values(ms).reduce((sum, each) => sum + each, 0);
}
