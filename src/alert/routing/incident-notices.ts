import {
  type AnomalyEvent,
  severities as ranks,
  type Severity,
} from '../../contract/anomaly-event.ts';
import type { Notice, Receiver } from '../receiver.ts';

/**
 * Notices of an anomaly to a receiver that is never away, has no mute and accepts all: every revision, or the
 * opening, a rise and the end. Edits of a message at each update are left out.
 *
 * @param events of one anomaly, in order, from the first that the receiver matches.
 */
export function incidentNotices(
  events: readonly AnomalyEvent[],
  { feed, exampleMemory = '' }: Pick<Receiver, 'feed' | 'exampleMemory'>,
): Notice[] {
  const severities: Severity[] = [];
  return events.flatMap((event, i): Notice[] => {
    const last = severities.at(-1);
    const isRise = last === undefined || ranks.indexOf(event.severity) > ranks.indexOf(last);
    if (isRise) severities.push(event.severity);
    const memory = i === 0 ? '' : exampleMemory;
    const notice = { event, severities: [...severities], memory, isTest: false };
    if (feed === 'revisions') return [{ ...notice, change: event.state }];
    if (event.state === 'resolved') return [{ ...notice, change: 'resolved' }];
    return isRise ? [{ ...notice, change: last === undefined ? 'opened' : 'risen' }] : [];
  });
}
