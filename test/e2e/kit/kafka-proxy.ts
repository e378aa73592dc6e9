import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** Keys of requests in Kafka's protocol. */
export const kafkaApis = { fetch: 1, offsetCommit: 8, heartbeat: 12, addOffsetsToTxn: 25 } as const;

/** Fate of a response: it passes, it is dropped, or it passes with another error code or with other bytes. */
export type AnswerFate =
  | 'pass'
  | 'swallow'
  | { readonly errorCode: number }
  /** Where it has a text, that becomes another one of the same length. */
  | { readonly text: string; readonly becomes: string };

/**
 * A proxy before one broker that understands enough of Kafka's protocol to distinguish responses. It replaces
 * the broker's port with its own, so that clients stay with it.
 */
export class KafkaProxy {
  /** Decides on each response, by the key of its request. */
  fate: (apiKey: number) => AnswerFate = () => 'pass';
  /** Number of responses that were dropped or changed. */
  meddled = 0;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #broker: { readonly host: string; readonly port: number };

  private constructor(broker: string) {
    const at = broker.lastIndexOf(':');
    this.#broker = { host: broker.slice(0, at), port: Number(broker.slice(at + 1)) };
    this.#server = createServer((client) => this.#relay(client));
  }

  static async before(broker: string): Promise<KafkaProxy> {
    const proxy = new KafkaProxy(broker);
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  get address(): string {
    return `127.0.0.1:${this.#port}`;
  }

  /** Ends every connection; new ones are accepted. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async close(): Promise<void> {
    this.cut();
    this.#server.close();
    await once(this.#server, 'close');
  }

  get #port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  #relay(client: Socket): void {
    const { host, port } = this.#broker;
    const broker = connect(port, host);
    const asked = new Map<number, number>();
    for (const socket of [client, broker]) {
      this.#sockets.add(socket);
      socket.on('close', () => {
        this.#sockets.delete(socket);
        client.destroy();
        broker.destroy();
      });
      socket.on('error', () => socket.destroy());
    }
    // A request: length, key, version, correlation id, …; a response: length, correlation id, ….
    client.on(
      'data',
      framed((frame) => {
        asked.set(frame.readInt32BE(8), frame.readInt16BE(4));
        broker.write(frame);
      }),
    );
    broker.on(
      'data',
      framed((frame) => {
        const apiKey = asked.get(frame.readInt32BE(4)) ?? -1;
        asked.delete(frame.readInt32BE(4));
        const answer = this.#treated(frame, apiKey);
        if (answer !== undefined) client.write(answer);
      }),
    );
  }

  #treated(frame: Buffer, apiKey: number): Buffer | undefined {
    const fate = this.fate(apiKey);
    const textAt = typeof fate === 'object' && 'text' in fate ? frame.indexOf(fate.text) : 0;
    if (fate !== 'pass' && textAt >= 0) this.meddled++;
    if (fate === 'swallow') return undefined;
    if (typeof fate === 'object') {
      // Responses with a single code end with it, in the versions that kafkajs speaks.
      if ('errorCode' in fate) frame.writeInt16BE(fate.errorCode, frame.length - 2);
      else if (textAt >= 0) frame.write(fate.becomes, textAt);
    }
    const { host, port } = this.#broker;
    for (const form of [endpoint, compactEndpoint]) {
      const original = form(host, port);
      for (let at = frame.indexOf(original); at >= 0; at = frame.indexOf(original, at + 1)) {
        form(host, this.#port).copy(frame, at);
      }
    }
    return frame;
  }
}

/** A broker's address in responses: length, host, port. */
function endpoint(host: string, port: number): Buffer {
  const bytes = Buffer.alloc(2 + host.length + 4);
  bytes.writeInt16BE(host.length, 0);
  bytes.write(host, 2);
  bytes.writeInt32BE(port, 2 + host.length);
  return bytes;
}

/** The same in flexible versions of a response: a byte of the length and one, host, port. */
function compactEndpoint(host: string, port: number): Buffer {
  const bytes = endpoint(host, port).subarray(1);
  bytes[0] = host.length + 1;
  return bytes;
}

/** Splits a stream into frames, each after its length. */
function framed(onFrame: (frame: Buffer) => void): (bytes: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0);
  return (bytes) => {
    rest = rest.length === 0 ? bytes : Buffer.concat([rest, bytes]);
    while (rest.length >= 4) {
      const length = 4 + rest.readInt32BE(0);
      if (rest.length < length) break;
      onFrame(Buffer.from(rest.subarray(0, length)));
      rest = rest.subarray(length);
    }
  };
}
