import type { AnomalyEvent } from '../../../src/contract/anomaly-event.ts';
import { anomalyIdOf, dedupKeyOf } from '../../../src/contract/anomaly-identity.ts';
import { IncidentGrouper } from '../../../src/detect/incident/incident-grouper.ts';
import type { Series } from '../../../src/series/series-window.ts';
import { anomalyFixture } from '../../contract/anomaly-fixture.ts';
import { detectOptions } from '../../scenarios/run-scenario.ts';

/** When the story begins. */
export const beginMs = Date.parse('2026-11-01T12:00:00Z');
/** A second of the story, as an ISO time. */
export const at = (seconds: number) => new Date(beginMs + seconds * 1_000).toISOString();

/** The series `model/region`. */
export function seriesOf(name: string): Series {
  const [model = '', region = ''] = name.split('/');
  const absent = { service: '', version: '', request_type: '', host: '', tenant: '' };
  return { ...absent, model, region, cold_start: false };
}

/** An anomaly of `model/region` that begins at a second of the story. */
export function opened(
  name: string,
  second: number,
  changed: Partial<AnomalyEvent> = {},
): AnomalyEvent {
  const series = seriesOf(name);
  const dedup_key = dedupKeyOf('tail_shift', series);
  return anomalyFixture({
    ...{ ...series, dedup_key, severity: 'warning', affected_share: 0.001, ratio: 3 },
    id: anomalyIdOf(dedup_key, beginMs + second * 1_000),
    started_at: at(second),
    detected_at: at(second + 12),
    emitted_at: at(second + 12),
    summary: `${name} is slow`,
    ...changed,
  });
}

/** The end of an anomaly, at a second of the story. */
export function resolved(event: AnomalyEvent, second: number): AnomalyEvent {
  const changed = { revision: event.revision + 1, emitted_at: at(second), resolved_at: at(second) };
  const summary = `${event.model}/${event.region} is back`;
  return { ...event, ...changed, state: 'resolved', resolution: 'recovered', summary };
}

/** Events of series by the second of the story. */
export type Story = Readonly<Record<number, readonly AnomalyEvent[]>>;

/** Ten series are live, with or without events. */
export const live = ['ranker', 'ads'].flatMap((model) =>
  ['eu', 'us', 'ap', 'sa', 'me'].map((region) => seriesOf(`${model}/${region}`)),
);

/** Context of the last window that is over at a second of the story. */
export const contextAt = (second: number, all: readonly Series[] = live) => ({
  // The last window that is over.
  startMs: Math.floor((beginMs + second * 1_000) / 10_000) * 10_000 - 10_000,
  nowMs: beginMs + second * 1_000,
  live: () => all,
});

/** All events that a story emits. */
export function run(story: Story, options = detectOptions(), all = live): AnomalyEvent[] {
  const grouper = new IncidentGrouper(options);
  return Object.entries(story).flatMap(([second, events]) =>
    grouper.group(events, contextAt(Number(second), all)),
  );
}

/** True for what is published, false for the row of a series. */
export const isPage = ({ incident_id }: AnomalyEvent) => incident_id === undefined;

/** Evidence of so many requests beyond the expected ones in a window, over some windows. */
export function affected(perWindow: number, windows = 2): Pick<AnomalyEvent, 'evidence'> {
  const { evidence } = anomalyFixture();
  return {
    evidence: { ...evidence, windows, exceedances: evidence.expected + perWindow * windows },
  };
}
