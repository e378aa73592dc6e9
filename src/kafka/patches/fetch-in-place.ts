import { decodeFetchResponse, OLDEST_VERSION } from '../protocol/fetch-response.ts';
import type { FramePool } from '../protocol/frame-pool.ts';
import type { RecordBatchReader } from '../protocol/record-batch-reader.ts';
import { type Patchable, patchOnce } from './patch-once.ts';

/** A client's decoder of fetch responses, and the pool of their memory. */
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

/** The used part of kafkajs' `Broker` (src/broker/index.js). */
interface Broker {
  readonly connectionPool: { readonly socketFactory: object };
  readonly lookupRequest: Lookup;
  fetch(request: object): Promise<unknown>;
}

/** Clients by their socket factory, which their brokers also reference. */
const clients = new WeakMap<object, InPlace>();

/**
 * Makes the consumers of the client with this socket factory read records in place (decodeFetchResponse). All
 * other consumers receive kafkajs' own messages.
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
      const lookupRequest = decodingInPlace(this.lookupRequest, given);
      return fetch.call(Object.create(this, { lookupRequest: { value: lookupRequest } }), request);
    },
  }));
}

/** kafkajs looks up request and response by the version that it and the broker support. */
function decodingInPlace(lookup: Lookup, { reader, pool }: InPlace): Lookup {
  return (apiKey, definition) => (options) => {
    const exchange = lookup(apiKey, definition)(options);
    const { apiVersion } = exchange.request;
    if (apiVersion < OLDEST_VERSION) return exchange;
    const decode = (bytes: Buffer) =>
      decodeFetchResponse(bytes, apiVersion, reader, () => pool.give(bytes));
    return { ...exchange, response: { ...exchange.response, decode } };
  };
}
