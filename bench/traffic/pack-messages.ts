import { MessagePacker } from '../../src/generate/publish/message-packer.ts';
import type { TimingEventJson } from '../../src/generate/timing-event-json.ts';
import { sourceKey } from '../../src/generate/timing-event-json.ts';
import type { OutgoingMessage } from '../../src/kafka/client/publisher.ts';

/** Messages of up to `perMessage` events each, keyed by source, in the order they fill up. */
export function* packMessages(
  events: Iterable<TimingEventJson>,
  perMessage: number,
): Generator<OutgoingMessage, void> {
  const packer = new MessagePacker(perMessage);
  for (const event of events) {
    const full = packer.add(sourceKey(event.model, event.host), JSON.stringify(event));
    if (full !== undefined) yield full;
  }
  yield* packer.flush();
}
