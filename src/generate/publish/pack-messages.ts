import type { OutgoingMessage } from '../../kafka/client/publisher.ts';
import { encodeEvent } from '../encode-event.ts';
import { sourceKey } from '../source-key.ts';
import type { TimingEventJson } from '../timing-event-json.ts';
import { MessagePacker } from './message-packer.ts';

/** Messages of up to `perMessage` events each, keyed by source, in the order they fill up. */
export function* packMessages(
  events: Iterable<TimingEventJson>,
  perMessage: number,
): Generator<OutgoingMessage, void> {
  const packer = new MessagePacker(perMessage);
  for (const event of events) {
    const full = packer.add(sourceKey(event.model, event.host), encodeEvent(event));
    if (full !== undefined) yield full;
  }
  yield* packer.flush();
}
