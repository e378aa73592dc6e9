import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import kafkajs from 'kafkajs';
import { registerCompressionCodecs } from '../src/kafka/compression/compression.ts';
import { FramePool } from '../src/kafka/protocol/frame-pool.ts';
import { frameSocket } from '../src/kafka/protocol/frame-socket.ts';

/** Where the key of the API lies in a request, behind its length; 0 is Produce. */
const API_KEY_AT = 4;
const PRODUCE = 0;
/** Requests on the way at once, so many as the Java producer has. */
const MOST_ON_THE_WAY = 5;

/**
 * Messages as a producer sends them, LZ4 and all, kept as the bytes that kafkajs wrote: sent again and
 * again they cost next to nothing, so that the load on a pipeline does not take its cores away.
 */
export class ReplayedRequests {
  readonly #requests: readonly Buffer[];
  readonly #socket: Socket;
  #sent = 0;
  #answered = 0;
  #onAnswer: () => void = () => undefined;

  private constructor(requests: readonly Buffer[], socket: Socket) {
    this.#requests = requests;
    this.#socket = socket;
    // Each is a whole answer; whether the broker has kept what it got shows in what is stored.
    socket.on('data', () => {
      this.#answered++;
      this.#onAnswer();
    });
  }

  /**
   * Sends each batch once by kafkajs, to all partitions in turn, and keeps what it wrote.
   *
   * @param broker is the leader of all partitions.
   */
  static async record(
    broker: string,
    topic: string,
    partitions: number,
    batches: readonly (readonly Buffer[])[],
  ): Promise<ReplayedRequests> {
    registerCompressionCodecs();
    const requests: Buffer[] = [];
    const client = new kafkajs.Kafka({
      brokers: [broker],
      logLevel: kafkajs.logLevel.WARN,
      socketFactory: ({ host, port, onConnect }) => {
        const socket = connect({ host, port }, onConnect);
        const write = socket.write.bind(socket) as (...given: unknown[]) => boolean;
        socket.write = (bytes: Uint8Array | string, ...rest: unknown[]) => {
          if (bytes instanceof Buffer && bytes.readInt16BE(API_KEY_AT) === PRODUCE) {
            requests.push(Buffer.from(bytes));
          }
          return write(bytes, ...rest);
        };
        return socket;
      },
    });
    const producer = client.producer({ allowAutoTopicCreation: false });
    await producer.connect();
    const compression = kafkajs.CompressionTypes.LZ4;
    for (const batch of batches) {
      const messages = batch.map((value, i) => ({ value, partition: i % partitions }));
      await producer.send({ topic, acks: -1, compression, messages });
    }
    await producer.disconnect();
    if (requests.length !== batches.length) {
      throw new Error(`${batches.length} batches took kafkajs ${requests.length} requests`);
    }
    const [host, port] = broker.split(':') as [string, string];
    const socket = frameSocket(host, Number(port), new FramePool());
    socket.setNoDelay(true);
    await once(socket, 'connect');
    return new ReplayedRequests(requests, socket);
  }

  /** Requests that the broker has answered. */
  get answered(): number {
    return this.#answered;
  }

  /** Sends the next request, once there are not too many on the way. */
  async send(): Promise<void> {
    await this.#until(MOST_ON_THE_WAY - 1);
    this.#socket.write(this.#requests[this.#sent++ % this.#requests.length] as Buffer);
  }

  /** Waits until all that was sent is answered. */
  answers(): Promise<void> {
    return this.#until(0);
  }

  close(): void {
    this.#socket.destroy();
  }

  async #until(onTheWay: number): Promise<void> {
    while (this.#sent - this.#answered > onTheWay) {
      await new Promise<void>((resolve) => {
        this.#onAnswer = resolve;
      });
    }
  }
}
