import type { DecodeSink } from '../event-decoder.ts';

/** Returns true if the message has a value of a size that is read; else it is rejected as a whole. */
export function isReadable(
  message: Buffer | null,
  maxMessageBytes: number,
  sink: Pick<DecodeSink, 'reject'>,
): message is Buffer {
  if (message === null) {
    sink.reject(0, 'tombstone', 'The message must have a value: it is a tombstone', 0, 0);
    return false;
  }
  if (message.length <= maxMessageBytes) return true;
  const rule = `at most ${maxMessageBytes} bytes (limits.max_message_bytes)`;
  const detail = `The message must have ${rule}: it has ${message.length}`;
  sink.reject(0, 'message_too_large', detail, 0, message.length);
  return false;
}
