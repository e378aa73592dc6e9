import type { KafkajsEncoder, KafkajsExchange } from '../protocol/kafkajs-coders.ts';
import { TOPIC_ID_VERSION, type TopicMetadata } from '../protocol/metadata-v10.ts';
import { type Patchable, patchOnce } from './patch-once.ts';

const METADATA_KEY = 3;
/** The first version in which an empty list asks for no topic. Before, it asks for all of them. */
const NO_TOPICS_VERSION = 1;
/** The first version that says whether topics are to be created. */
const CREATION_VERSION = 4;

interface MetadataArguments {
  readonly topics: readonly string[];
  readonly allowAutoTopicCreation?: boolean;
}

/** A cluster as a broker knows it, with the topics that were asked for. */
export interface ClusterMetadata {
  readonly brokers: readonly { readonly nodeId: number }[];
  readonly topicMetadata: readonly Omit<TopicMetadata, 'topicId'>[];
}

type Exchange = KafkajsExchange<ClusterMetadata>;

interface Definition {
  readonly versions: readonly string[];
  readonly protocol: (options: { version: number }) => (request: MetadataArguments) => Exchange;
}

/** The used part of kafkajs' `Broker` (src/broker/index.js). */
interface Broker {
  readonly connectionPool: { send<T>(exchange: KafkajsExchange<T>): Promise<T> };
  lookupRequest(apiKey: number, definition: Definition): (request: MetadataArguments) => Exchange;
  metadata(topics: readonly string[]): Promise<ClusterMetadata>;
}

/** A patched broker. */
export interface DescribingBroker extends Broker {
  /** Describes topics as they are. Errors of topics and partitions are part of the response. */
  describeTopics(topics: readonly string[]): Promise<ClusterMetadata>;
}

/**
 * Makes requests for metadata name their topics. kafkajs 2.2.4 asks for all topics of the cluster where it wants
 * none: when an admin client looks for the controller, or for the brokers. It then fails with the error of any
 * topic, such as one of somebody else that has no leader.
 */
export function askOwnTopics(
  broker: Patchable<Broker>,
  { requests, Encoder }: { requests: { Metadata: Definition }; Encoder: new () => KafkajsEncoder },
): void {
  patchOnce(broker, 'askOwnTopics', ['metadata'], ({ metadata }) => {
    requests.Metadata = withoutAllTopics(requests.Metadata, Encoder);
    return { metadata };
  });
  const patched = broker.prototype as DescribingBroker;
  patched.describeTopics ??= function describeTopics(topics) {
    const lookup = this.lookupRequest(METADATA_KEY, requests.Metadata);
    const { request, response } = lookup({ topics, allowAutoTopicCreation: false });
    return this.connectionPool.send({
      request,
      response: { decode: response.decode, parse: async (metadata) => metadata },
    });
  };
}

function withoutAllTopics(before: Definition, Encoder: new () => KafkajsEncoder): Definition {
  return {
    versions: before.versions,
    protocol: ({ version }) => {
      const exchangeOf = before.protocol({ version });
      return (asked) => {
        const { request, response } = exchangeOf(asked);
        const isAsItIs = version < NO_TOPICS_VERSION || version >= TOPIC_ID_VERSION;
        if (asked.topics.length > 0 || isAsItIs) return { request, response };
        const { allowAutoTopicCreation = true } = asked;
        const encode = async () => {
          const encoder = new Encoder().writeInt32(0);
          if (version >= CREATION_VERSION) encoder.writeBoolean(allowAutoTopicCreation);
          return encoder;
        };
        return { request: { ...request, encode }, response };
      };
    },
  };
}
