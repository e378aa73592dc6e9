import type { AnomalyEvent } from '../../contract/anomaly-event.ts';
import {
  type ComparedTimes,
  comparedWithBefore,
  longestBeforeMs,
} from '../../contract/compared-times.ts';
import { attributesOf } from '../../series/attributes.ts';
import { AnomalyStore } from '../../sink/anomalies/anomaly-store.ts';
import { shownRange } from '../../sink/anomalies/explanation.ts';
import type { ClickHouseClient } from '../../sink/client/clickhouse.ts';
import { readFirstMinute } from '../../sink/windows/window-range.ts';
import type { Filters } from '../question.ts';
import { requestsOf } from './incident-requests.ts';

/** Incidents of the same model that are looked at. */
const mostOthers = 1_000;
/** The times of a comparison with before, and the incidents of the same requests that are no "before". */
export interface TimesBefore {
  /** Undefined where there is none. */
  readonly times: ComparedTimes | undefined;
  /** Incidents that take all of the stored time before it; none where nothing is stored. */
  readonly takenBy: readonly AnomalyEvent[];
}

/**
 * The time of an incident, and the nearest time before it that is stored and in no other incident of the same
 * requests.
 *
 * @param endMs end of the incident. @default its end, or now
 */
export async function incidentTimes(
  client: ClickHouseClient,
  event: AnomalyEvent,
  nowMs: number,
  endMs: number = shownRange(event, nowMs).toMs,
): Promise<TimesBefore> {
  const { model } = event;
  const fromMs = Date.parse(event.started_at);
  const sinceMs = Math.max(0, fromMs - longestBeforeMs);
  const [firstMs, known] = await Promise.all([
    readFirstMinute(client, { model, fromMs: sinceMs }),
    new AnomalyStore(client).since(sinceMs, { model, state: '', limit: mostOthers }),
  ]);
  const requests = requestsOf(event);
  const others = known.filter(
    (other) => other.id !== event.id && isOfMinutes(other) && overlap(requestsOf(other), requests),
  );
  const stored = { firstMs: firstMs ?? nowMs };
  const span = { fromMs, toMs: endMs };
  const taken = others.map((other) => shownRange(other, nowMs));
  const times = comparedWithBefore(span, { ...stored, taken });
  const isTaken = times === undefined && comparedWithBefore(span, stored) !== undefined;
  const isBefore = (other: AnomalyEvent) => Date.parse(other.started_at) < fromMs;
  return { times, takenBy: isTaken ? others.filter(isBefore) : [] };
}

/** A drift lasts days, and is no reason to compare with the week before. */
const isOfMinutes = ({ kind }: AnomalyEvent) => kind !== 'drift' && kind !== 'pipeline';

/** True where some request may be of both. */
function overlap(one: Filters, other: Filters): boolean {
  const names = ['version', 'region', 'requestType'] as const;
  const isSame = (name: (typeof names)[number]) =>
    one[name] === '' || other[name] === '' || one[name] === other[name];
  const pairsOf = ({ attributePairs = [] }: Filters) => attributesOf(attributePairs.join());
  const own = pairsOf(other);
  const isOwn = [...pairsOf(one)].every(([name, value]) => (own.get(name) ?? value) === value);
  const isStart = one.start === 'all' || other.start === 'all' || one.start === other.start;
  return names.every(isSame) && isOwn && isStart;
}
