import { configSchema } from '../../src/config/schema.ts';
import { type AnomalyEvent, anomalyEventSchema } from '../../src/contract/anomaly-event.ts';
import { Detector } from '../../src/detect/detector.ts';
import type { DetectOptions } from '../../src/detect/options/detect-options.ts';
import type { SeriesWindow } from '../../src/series/series-window.ts';
import { scenarioStartMs } from './scenario-windows.ts';

/** Stories are short: without another word three quiet windows resolve. */
export function detectOptions(detect: Readonly<Record<string, unknown>> = {}): DetectOptions {
  return configSchema.parse({ detect: { resolve_windows: 3, ...detect } }).detect;
}

/** A new detector in the middle of a run. */
export interface Restart {
  /** Window before which the new detector takes over, knowing only events and history. */
  readonly at: number;
  /** Windows of history the new detector replays; undefined: all. */
  readonly history: number | undefined;
}

export interface EmittedEvent {
  readonly window: number;
  readonly event: AnomalyEvent;
}

/** Runs windows through a detector. */
export function runScenario(
  windows: readonly (readonly SeriesWindow[])[],
  options: DetectOptions,
): EmittedEvent[] {
  return observed(new Detector(options), windows, 0, options);
}

/** The same run with a restart. Before that it is the run that emitted these events. */
export function restartScenario(
  windows: readonly (readonly SeriesWindow[])[],
  options: DetectOptions,
  emitted: readonly EmittedEvent[],
  { at, history }: Restart,
): EmittedEvent[] {
  const before = emitted.filter(({ window }) => window < at);
  const detector = new Detector(options);
  detector.restore(openOf(before));
  const from = history === undefined ? 0 : Math.max(0, at - history);
  for (const past of windows.slice(from, at)) detector.warmUp([past]);
  return [...before, ...observed(detector, windows, at, options)];
}

/** Events of the windows from one on. */
function observed(
  detector: Detector,
  windows: readonly (readonly SeriesWindow[])[],
  from: number,
  { window: windowMs }: DetectOptions,
): EmittedEvent[] {
  return windows.slice(from).flatMap((present, i) => {
    const startMs = scenarioStartMs + (from + i) * windowMs;
    const events = detector.observe(present, startMs + windowMs + 2_000, startMs);
    return events.map((event) => ({ window: from + i, event: anomalyEventSchema.parse(event) }));
  });
}

/** What a table would give of what is open: the last event of each anomaly and its series, through JSON. */
function openOf(emitted: readonly EmittedEvent[]): AnomalyEvent[] {
  const last = new Map(emitted.map(({ event }) => [event.id, event]));
  const isOpen = (event: AnomalyEvent | undefined) => event?.state !== 'resolved';
  return [...last.values()]
    .filter((event) => isOpen(event.incident_id ? last.get(event.incident_id) : event))
    .map((event) => anomalyEventSchema.parse(JSON.parse(JSON.stringify(event))));
}
