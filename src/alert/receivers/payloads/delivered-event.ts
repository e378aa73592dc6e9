import type { AnomalyEvent } from '../../../contract/anomaly-event.ts';
import type { Form, Notice } from '../../receiver.ts';

/**
 * The event as machines get it: names and all as the detector emitted them. The minimal form is without
 * its long parts, for receivers with a limit. A test says so in its summary.
 */
export function deliveredEvent({ event, isTest }: Notice, form: Form): AnomalyEvent {
  const marked = isTest ? { ...event, summary: `TEST ${event.summary}` } : event;
  if (form === 'full') return marked;
  const { scope: _scope, members: _members, worst: _worst, drivers: _drivers, ...rest } = marked;
  return { ...rest, blame: [], exemplars: [], sql: '' };
}
