import type { KafkajsDecoder, KafkajsEncoder } from './kafkajs-coders.ts';

/** OffsetForLeaderEpoch (KIP-101, KIP-320). Version 3 is of Kafka 2.3. */
export const LEADER_EPOCH_KEY = 23;
export const LEADER_EPOCH_VERSION = 3;

export interface LeaderEpochRequest {
  readonly topic: string;
  readonly partition: number;
  readonly leaderEpoch: number;
}

export interface LeaderEpochResponse {
  readonly errorCode: number;
  /** The epoch, or the latest earlier one that the log has; -1 where it is not known. */
  readonly leaderEpoch: number;
  /** Offset after the last record of that epoch; -1 where it is not known. */
  readonly endOffset: number;
}

const CONSUMER = -1;
const ANY_CURRENT_EPOCH = -1;

export function encodeLeaderEpochRequest(
  encoder: KafkajsEncoder,
  { topic, partition, leaderEpoch }: LeaderEpochRequest,
): KafkajsEncoder {
  return encoder
    .writeInt32(CONSUMER)
    .writeInt32(1)
    .writeString(topic)
    .writeInt32(1)
    .writeInt32(partition)
    .writeInt32(ANY_CURRENT_EPOCH)
    .writeInt32(leaderEpoch);
}

/** Decodes the response to a request for one partition. */
export function decodeLeaderEpochResponse(fields: KafkajsDecoder): LeaderEpochResponse {
  fields.readInt32();
  const topics = fields.readArray(() => {
    fields.readString();
    return fields.readArray(() => {
      const errorCode = fields.readInt16();
      fields.readInt32();
      const leaderEpoch = fields.readInt32();
      return { errorCode, leaderEpoch, endOffset: Number(fields.readInt64().toString()) };
    });
  });
  return topics[0]?.[0] ?? { errorCode: 0, leaderEpoch: -1, endOffset: -1 };
}
