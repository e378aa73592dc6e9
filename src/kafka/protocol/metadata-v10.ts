import type { KafkajsDecoder, KafkajsEncoder } from './kafkajs-coders.ts';

/** First version with topic ids (KIP-516, Kafka 2.8). Flexible: compact lengths, tagged fields. */
export const TOPIC_ID_VERSION = 10;

const NO_ID_BYTES = 16;

/** A topic in a metadata response, in the shape of kafkajs' own decoder, and its id. */
export interface TopicMetadata {
  readonly topicErrorCode: number;
  readonly topic: string;
  /** As Kafka prints it: 22 characters of base64url. '' where the broker has none. */
  readonly topicId: string;
  readonly partitionMetadata: readonly PartitionMetadata[];
}

export interface PartitionMetadata {
  readonly partitionErrorCode: number;
  readonly partitionId: number;
  /** -1 for none. */
  readonly leader: number;
  readonly replicas: readonly number[];
  /** Replicas that have all records. */
  readonly isr: readonly number[];
}

/** Encodes a request for the metadata of topics by name. Without topics it asks for the brokers alone. */
export function encodeMetadataRequest(
  encoder: KafkajsEncoder,
  topics: readonly string[],
  allowAutoTopicCreation: boolean,
): KafkajsEncoder {
  // The request header's tagged fields, which kafkajs does not write.
  encoder.writeUVarInt(0).writeUVarInt(topics.length + 1);
  for (const topic of topics) {
    encoder.writeBuffer(Buffer.alloc(NO_ID_BYTES)).writeUVarIntString(topic).writeUVarInt(0);
  }
  const authorizedOperations = false;
  return encoder
    .writeBoolean(allowAutoTopicCreation)
    .writeBoolean(authorizedOperations)
    .writeBoolean(authorizedOperations)
    .writeUVarInt(0);
}

/** Decodes a response into the shape of kafkajs' own decoder, with topic ids. */
export function decodeMetadataResponse(fields: KafkajsDecoder) {
  fields.readTaggedFields();
  const clientSideThrottleTime = fields.readInt32();
  const brokers = fields.readUVarIntArray(() => {
    const broker = {
      nodeId: fields.readInt32(),
      host: fields.readUVarIntString(),
      port: fields.readInt32(),
      rack: fields.readUVarIntString(),
    };
    fields.readTaggedFields();
    return broker;
  });
  const clusterId = fields.readUVarIntString();
  const controllerId = fields.readInt32();
  const topicMetadata = fields.readUVarIntArray(() => topicOf(fields));
  return {
    throttleTime: 0,
    clientSideThrottleTime,
    brokers,
    clusterId,
    controllerId,
    topicMetadata,
  };
}

function topicOf(fields: KafkajsDecoder): TopicMetadata & { readonly isInternal: boolean } {
  const topic = {
    topicErrorCode: fields.readInt16(),
    topic: fields.readUVarIntString() ?? '',
    topicId: idOf(fields.readBytes(NO_ID_BYTES)),
    isInternal: fields.readBoolean(),
    partitionMetadata: fields.readUVarIntArray(() => partitionOf(fields)),
  };
  fields.readInt32();
  fields.readTaggedFields();
  return topic;
}

function partitionOf(fields: KafkajsDecoder) {
  const nodeIds = () => fields.readUVarIntArray(() => fields.readInt32());
  const partition = {
    partitionErrorCode: fields.readInt16(),
    partitionId: fields.readInt32(),
    leader: fields.readInt32(),
    leaderEpoch: fields.readInt32(),
    replicas: nodeIds(),
    isr: nodeIds(),
    offlineReplicas: nodeIds(),
  };
  fields.readTaggedFields();
  return partition;
}

function idOf(bytes: Buffer): string {
  return bytes.every((byte) => byte === 0) ? '' : bytes.toString('base64url');
}
