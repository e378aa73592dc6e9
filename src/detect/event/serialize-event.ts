import { type AnomalyEvent, anomalyEventSchema } from '../../contract/anomaly-event.ts';
import { type StateArchive, UnreadableState } from '../../snapshot/archive.ts';

/** Saves or restores an event of an open anomaly, or of one that is still to be emitted. */
export function serializeEvent(state: StateArchive, event: AnomalyEvent | undefined): AnomalyEvent {
  const text = state.text(JSON.stringify(event) ?? '');
  if (event !== undefined) return event;
  const read = anomalyEventSchema.safeParse(JSON.parse(text));
  if (read.success) return read.data;
  throw new UnreadableState(`an anomaly is not what it should be: ${read.error.message}`);
}
