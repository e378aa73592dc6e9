import type { AnomalyEvent } from '../../src/contract/anomaly-event.ts';
import { Detector } from '../../src/detect/detector.ts';
import { digestOf } from './expect-golden.ts';

/** Fields that are compared by a digest each group, so that a line says which of them differ. */
const groups: Readonly<Record<string, readonly (keyof AnomalyEvent)[]>> = {
  ids: ['id', 'revision', 'dedup_key', 'group_key', 'incident_id'],
  numbers: ['observed_ms', 'interval_ms', 'baseline_ms', 'ratio', 'requests', 'rate', 'quantile'],
  evidence: ['evidence', 'slo', 'affected_share', 'peak'],
  blame: ['blame', 'bottleneck', 'drivers', 'mix_share', 'exemplars'],
  scope: ['scope', 'members', 'worst'],
  times: ['started_at', 'detected_at', 'emitted_at', 'measured_at', 'ended_at', 'resolved_at'],
};
const grouped = new Set<string>(Object.values(groups).flat());

const shortDigest = (value: unknown) => digestOf(JSON.stringify(value)).slice(0, 6);

/** An event as a line: what people read first, then a digest of each group of its other fields. */
export function eventLine(event: AnomalyEvent): string {
  const { state, severity, kind, stage, summary, resolution } = event;
  const rest = Object.entries(event).filter(([field]) => !grouped.has(field));
  const digests = Object.entries(groups).map(
    ([name, fields]) => `${name} ${shortDigest(fields.map((field) => [field, event[field]]))}`,
  );
  const member = event.incident_id === undefined ? '' : ' member';
  const end = resolution === null ? '' : ` ${resolution}`;
  const head = `${state}${end}${member} ${severity} ${kind} ${stage}`;
  return `${head}: ${summary} [${[...digests, `rest ${shortDigest(rest)}`].join(', ')}]`;
}

/** Events as NDJSON, in a line: how many of each state, and a digest of all. */
export function streamLine(events: readonly AnomalyEvent[]): string {
  const count = (state: AnomalyEvent['state']) =>
    events.filter((event) => event.state === state).length;
  const members = events.filter(({ incident_id }) => incident_id !== undefined).length;
  const counts = `${events.length} events: ${count('opened')} opened, ${count('updated')} updated, ${count('resolved')} resolved; ${members} of members`;
  return `${counts}; ${digestOf(events.map((event) => `${JSON.stringify(event)}\n`).join(''))}`;
}

/** Runs something, and returns every event that a detector emits meanwhile, in order. */
export function emittedDuring(run: () => void): AnomalyEvent[] {
  const emitted: AnomalyEvent[] = [];
  const { observe } = Detector.prototype;
  Detector.prototype.observe = function (...given) {
    const events = observe.apply(this, given);
    emitted.push(...events);
    return events;
  };
  try {
    run();
  } finally {
    Detector.prototype.observe = observe;
  }
  return emitted;
}
