import type { Settled, StoredEvent } from '../../sink/anomalies/delivery-store.ts';
import type { Receiver } from '../receiver.ts';
import type { DeliveredBefore } from './delivery.ts';

/**
 * The state of an anomaly at a receiver, as a starting process assumes it. Undefined where the anomaly was
 * over before the receiver was configured: then it gets nothing.
 *
 * @param events of the anomaly, in order.
 */
export function deliveredBefore(
  { feed }: Pick<Receiver, 'feed'>,
  events: readonly StoredEvent[],
  settled: Settled | undefined,
  registeredMs: number,
): DeliveredBefore | undefined {
  const isEarlier = ({ writtenMs }: StoredEvent) => writtenMs < registeredMs;
  const newest = events.at(-1);
  if (newest?.event.state === 'resolved' && isEarlier(newest)) return undefined;
  // A receiver of all revisions gets those since it was configured.
  const earlier = feed === 'revisions' ? events.findLast(isEarlier) : undefined;
  return {
    settledRevision: Math.max(settled?.settledRevision ?? 0, earlier?.event.revision ?? 0),
    accepted: settled?.accepted,
    // Each attempt has a row before it is made, so one without any was never made.
    mayHaveArrived: settled?.mayHaveArrived ?? false,
  };
}
