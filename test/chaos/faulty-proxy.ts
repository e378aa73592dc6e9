import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ProxyFault } from './proxy-fault.ts';

type RequestFault = Exclude<ProxyFault, { kind: 'refuse' }>;

/**
 * A TCP proxy on the loopback that forwards everything, until a fault is injected. It knows only that
 * requests and responses alternate: a request starts with the first bytes after a response.
 */
export class FaultyProxy {
  readonly port: number;
  readonly #server: Server;
  readonly #passages = new Set<Passage>();
  #fault: ProxyFault | undefined;
  #hits = 0;
  #heal: () => void = () => undefined;
  #healed: Promise<void> = Promise.resolve();

  private constructor(server: Server, targetPort: number) {
    this.#server = server;
    this.port = (server.address() as AddressInfo).port;
    server.on('connection', (client: Socket) => this.#accept(client, targetPort));
  }

  /** @param targetPort of a server on the loopback, which need not run yet */
  static async start(targetPort: number): Promise<FaultyProxy> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new FaultyProxy(server, targetPort);
  }

  /** Requests that the last fault has hit; of `refuse`: connections that it ended. */
  get hits(): number {
    return this.#hits;
  }

  /** Injects a fault, in place of the one before. */
  inject(fault: ProxyFault): void {
    this.heal();
    this.#fault = fault;
    this.#hits = 0;
    this.#healed = new Promise((resolve) => {
      this.#heal = resolve;
    });
    if (fault.kind !== 'refuse') return;
    for (const passage of this.#passages) passage.end();
    this.#hits = this.#passages.size;
  }

  /** Ends the fault: held bytes continue, even if their sender no longer waits. */
  heal(): void {
    this.#fault = undefined;
    this.#heal();
  }

  async close(): Promise<void> {
    this.heal();
    for (const passage of this.#passages) passage.end();
    const closed = once(this.#server, 'close');
    this.#server.close();
    await closed;
  }

  #accept(client: Socket, targetPort: number): void {
    if (this.#fault?.kind === 'refuse') {
      this.#hits++;
      client.destroy();
      return;
    }
    const passage = new Passage(client, targetPort, {
      faultOf: (head) => this.#faultOf(head),
      healed: () => this.#healed,
    });
    this.#passages.add(passage);
    void passage.over.then(() => this.#passages.delete(passage));
  }

  /** Returns the fault for a request that starts with these bytes. */
  #faultOf(head: Buffer): RequestFault | undefined {
    const fault = this.#fault;
    if (fault === undefined || fault.kind === 'refuse' || this.#hits >= fault.times) {
      return undefined;
    }
    if (!head.includes(fault.containing)) return undefined;
    this.#hits++;
    return fault;
  }
}

interface PassagePorts {
  readonly faultOf: (head: Buffer) => RequestFault | undefined;
  /** Resolves when the current fault ends. */
  readonly healed: () => Promise<void>;
}

/** One connection, and its continuation to the server. */
class Passage {
  readonly over: Promise<unknown>;
  readonly #client: Socket;
  readonly #server: Socket;
  readonly #ports: PassagePorts;
  #isAnswered = true;
  #fault: RequestFault | undefined;
  #healed: Promise<void> = Promise.resolve();
  #requestBytes = 0;

  constructor(client: Socket, targetPort: number, ports: PassagePorts) {
    this.#client = client;
    this.#server = connect(targetPort, '127.0.0.1');
    this.#ports = ports;
    for (const socket of [this.#client, this.#server]) {
      socket.setNoDelay(true);
      // For any reason, one end that is gone ends the other; the pumps notice.
      socket.on('error', () => this.end());
    }
    this.over = Promise.allSettled([
      this.#pump(this.#client, this.#server, (piece) => this.#ask(piece)),
      this.#pump(this.#server, this.#client, (piece) => this.#answer(piece)),
    ]);
  }

  end(): void {
    this.#client.destroy();
    this.#server.destroy();
  }

  /** Moves bytes one way, in order, as fast as the receiver reads them. */
  async #pump(
    from: Socket,
    to: Socket,
    through: (piece: Buffer) => Promise<Buffer | null>,
  ): Promise<void> {
    try {
      for await (const piece of from.iterator({ destroyOnReturn: false })) {
        const rest = await through(piece as Buffer);
        if (rest !== null && rest.length > 0) await write(to, rest);
      }
      to.end();
    } catch {
      this.end();
    }
  }

  /** Returns the part of a request that continues; null if none does any more. */
  async #ask(piece: Buffer): Promise<Buffer | null> {
    if (this.#isAnswered) {
      this.#isAnswered = false;
      this.#requestBytes = 0;
      this.#fault = this.#ports.faultOf(piece);
      this.#healed = this.#ports.healed();
    }
    const fault = this.#fault;
    const before = this.#requestBytes;
    this.#requestBytes += piece.length;
    if (fault?.kind === 'delay') await sleep(fault.delayMs);
    if (fault?.kind !== 'cut' && fault?.kind !== 'stall') return piece;
    if (this.#requestBytes <= fault.afterBytes) return piece;
    const cutAt = Math.max(0, fault.afterBytes - before);
    if (cutAt > 0) await write(this.#server, piece.subarray(0, cutAt));
    if (fault.kind === 'stall') {
      await this.#healed;
      return piece.subarray(cutAt);
    }
    this.end();
    return null;
  }

  async #answer(piece: Buffer): Promise<Buffer | null> {
    const fault = this.#fault;
    if (fault?.kind === 'swallow') {
      this.end();
      return null;
    }
    if (fault?.kind === 'delay') await sleep(fault.delayMs);
    this.#isAnswered = true;
    return piece;
  }
}

/** Resolves when the bytes are on their way. */
function write(to: Socket, bytes: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    to.write(bytes, (error) => (error ? reject(error) : resolve()));
  });
}
