import type {
  KafkajsDecoder,
  KafkajsEncoder,
  KafkajsExchange,
} from '../protocol/kafkajs-coders.ts';
import {
  decodeLeaderEpochResponse,
  encodeLeaderEpochRequest,
  LEADER_EPOCH_KEY,
  LEADER_EPOCH_VERSION,
  type LeaderEpochRequest,
  type LeaderEpochResponse,
} from '../protocol/leader-epoch-v3.ts';
import {
  decodeMetadataResponse,
  encodeMetadataRequest,
  TOPIC_ID_VERSION,
} from '../protocol/metadata-v10.ts';
import { type Patchable, patchOnce } from './patch-once.ts';

const METADATA_KEY = 3;

interface Definition<A, T> {
  readonly versions: readonly string[];
  readonly protocol: (options: { version: number }) => (request: A) => KafkajsExchange<T>;
}

interface MetadataArguments {
  readonly topics: readonly string[];
  readonly allowAutoTopicCreation?: boolean;
}

type Metadata = ReturnType<typeof decodeMetadataResponse>;

/** The used part of kafkajs' `Broker` (src/broker/index.js). */
interface Broker {
  readonly connectionPool: { send<T>(exchange: KafkajsExchange<T>): Promise<T> };
  lookupRequest<A, T>(
    apiKey: number,
    definition: Definition<A, T>,
  ): (request: A) => KafkajsExchange<T>;
  metadata(topics: readonly string[]): Promise<Metadata>;
}

/** A patched broker. */
export interface LogBroker extends Broker {
  endOfEpoch(request: LeaderEpochRequest): Promise<LeaderEpochResponse>;
}

/** The files of kafkajs that requests are made with. */
export interface KafkajsProtocol {
  readonly requests: { Metadata: Definition<MetadataArguments, Metadata> };
  readonly Encoder: new () => KafkajsEncoder;
  readonly Decoder: new (bytes: Buffer) => KafkajsDecoder;
}

/**
 * Lets brokers say which log a topic is. kafkajs 2.2.4 stops at version 6 of Metadata, without topic ids, and
 * has no OffsetForLeaderEpoch. Older brokers are asked as before.
 */
export function identifyLogs(broker: Patchable<Broker>, protocol: KafkajsProtocol): void {
  const { requests } = protocol;
  patchOnce(broker, 'identifyLogs', ['metadata'], ({ metadata }) => {
    requests.Metadata = withTopicIds(requests.Metadata, protocol);
    return { metadata };
  });
  const patched = broker.prototype as LogBroker;
  patched.endOfEpoch ??= function endOfEpoch(request) {
    const exchange = this.lookupRequest(LEADER_EPOCH_KEY, leaderEpochs(protocol));
    return this.connectionPool.send(exchange(request));
  };
}

function withTopicIds(
  before: Definition<MetadataArguments, Metadata>,
  { Encoder, Decoder }: KafkajsProtocol,
): Definition<MetadataArguments, Metadata> {
  const latest = Math.max(...before.versions.map(Number));
  return {
    versions: [...before.versions, String(TOPIC_ID_VERSION)],
    protocol: ({ version }) => {
      const older = before.protocol({ version: Math.min(version, latest) });
      if (version < TOPIC_ID_VERSION) return older;
      return ({ topics, allowAutoTopicCreation = true }) => ({
        request: {
          apiKey: METADATA_KEY,
          apiVersion: TOPIC_ID_VERSION,
          apiName: 'Metadata',
          encode: async () => encodeMetadataRequest(new Encoder(), topics, allowAutoTopicCreation),
        },
        response: {
          decode: async (bytes) => decodeMetadataResponse(new Decoder(bytes)),
          parse: older({ topics }).response.parse,
        },
      });
    },
  };
}

function leaderEpochs({
  Encoder,
  Decoder,
}: KafkajsProtocol): Definition<LeaderEpochRequest, LeaderEpochResponse> {
  return {
    versions: [String(LEADER_EPOCH_VERSION)],
    protocol: () => (request) => ({
      request: {
        apiKey: LEADER_EPOCH_KEY,
        apiVersion: LEADER_EPOCH_VERSION,
        apiName: 'OffsetForLeaderEpoch',
        encode: async () => encodeLeaderEpochRequest(new Encoder(), request),
      },
      response: {
        decode: async (bytes) => decodeLeaderEpochResponse(new Decoder(bytes)),
        parse: async (data) => data,
      },
    }),
  };
}
