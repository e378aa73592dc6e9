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

export interface ScenarioRun {
  /** Window before which a new detector takes over, knowing only events and history. */
  readonly restartAt?: number;
  /** Windows of history the new detector replays; absent: all. */
  readonly history?: number | undefined;
}

export interface EmittedEvent {
  readonly window: number;
  readonly event: AnomalyEvent;
}

/** Runs windows through a detector, with a restart in the middle if asked. */
export function runScenario(
  windows: readonly (readonly SeriesWindow[])[],
  options: DetectOptions,
  { restartAt, history }: ScenarioRun = {},
): EmittedEvent[] {
  let detector = new Detector(options);
  const emitted: EmittedEvent[] = [];
  windows.forEach((present, at) => {
    if (at === restartAt) {
      detector = new Detector(options);
      detector.restore(openOf(emitted));
      const from = history === undefined ? 0 : Math.max(0, at - history);
      for (const past of windows.slice(from, at)) detector.warmUp([past]);
    }
    const startMs = scenarioStartMs + at * options.window;
    const nowMs = startMs + options.window + 2_000;
    for (const event of detector.observe(present, nowMs, startMs)) {
      emitted.push({ window: at, event: anomalyEventSchema.parse(event) });
    }
  });
  return emitted;
}

/** What a table would give of what is open: the last event of each anomaly and its series, through JSON. */
function openOf(emitted: readonly EmittedEvent[]): AnomalyEvent[] {
  const last = new Map(emitted.map(({ event }) => [event.id, event]));
  const isOpen = (event: AnomalyEvent | undefined) => event?.state !== 'resolved';
  return [...last.values()]
    .filter((event) => isOpen(event.incident_id ? last.get(event.incident_id) : event))
    .map((event) => anomalyEventSchema.parse(JSON.parse(JSON.stringify(event))));
}
