import type { AnomalyEvent, Severity } from '../../detect/event/anomaly-event.ts';
import { severities as ranks } from '../../detect/event/severity.ts';
import type { Notice } from '../receivers/receiver.ts';

/**
 * What a receiver that is never away gets of an anomaly: its opening, a rise and its end, each as it was.
 *
 * @param events of one anomaly, in order.
 */
export function incidentNotices(events: readonly AnomalyEvent[]): Notice[] {
  const severities: Severity[] = [];
  return events.flatMap((event): Notice[] => {
    const last = severities.at(-1);
    const isRise = last === undefined || ranks.indexOf(event.severity) > ranks.indexOf(last);
    if (isRise) severities.push(event.severity);
    if (!isRise && event.state !== 'resolved') return [];
    const risen = last === undefined ? 'opened' : 'risen';
    const change = event.state === 'resolved' ? 'resolved' : risen;
    return [{ event, change, severities: [...severities], memory: '', isTest: false }];
  });
}
