import { decodeFetchAnswer, OLDEST_VERSION } from '../protocol/fetch-response.ts';
import type { FramePool } from '../protocol/frame-pool.ts';
import type { RecordBatchReader } from '../protocol/record-batch-reader.ts';
import { type Patchable, patchOnce } from './patch-once.ts';

/** How a client's answers are read, and where their memory goes when they are. */
interface InPlace {
  readonly reader: RecordBatchReader;
  readonly pool: FramePool;
}

interface Response {
  decode(bytes: Buffer): Promise<unknown>;
  parse(data: unknown): Promise<unknown>;
}

interface Exchange {
  readonly request: { readonly apiVersion: number };
  readonly response: Response;
}

type Lookup = (apiKey: number, definition: unknown) => (options: object) => Exchange;

/** As much of kafkajs' `Broker` as is needed; src/broker/index.js there. */
interface Broker {
  readonly connectionPool: { readonly socketFactory: object };
  readonly lookupRequest: Lookup;
  fetch(request: object): Promise<unknown>;
}

/** By what is a client's own, and its brokers have in hand. */
const clients = new WeakMap<object, InPlace>();

/**
 * Has the consumers of one client, the one with this socket factory, given the records of a fetch
 * as they lie in its answer (decodeFetchAnswer). All others are given kafkajs' own messages.
 */
export function fetchInPlace(
  broker: Patchable<Broker>,
  socketFactory: object,
  inPlace: InPlace,
): void {
  clients.set(socketFactory, inPlace);
  patchOnce(broker, 'fetchInPlace', ['fetch'], ({ fetch }) => ({
    fetch(this: Broker, request: object) {
      const given = clients.get(this.connectionPool.socketFactory);
      if (given === undefined) return fetch.call(this, request);
      const lookupRequest = withAnswersInPlace(this.lookupRequest, given);
      return fetch.call(Object.create(this, { lookupRequest: { value: lookupRequest } }), request);
    },
  }));
}

/** kafkajs asks for request and answer by the version that it and the broker share. */
function withAnswersInPlace(lookup: Lookup, { reader, pool }: InPlace): Lookup {
  return (apiKey, definition) => (options) => {
    const exchange = lookup(apiKey, definition)(options);
    const { apiVersion } = exchange.request;
    if (apiVersion < OLDEST_VERSION) return exchange;
    const decode = (bytes: Buffer) =>
      decodeFetchAnswer(bytes, apiVersion, reader, () => pool.give(bytes));
    return { ...exchange, response: { ...exchange.response, decode } };
  };
}
