import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { createServer as createRawServer, type Server, Socket } from 'node:net';
import type { Certificate } from '../../e2e/kit/certificates.ts';

/** A request as a server got it. */
export interface SeenRequest {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export interface TestServer {
  readonly port: number;
  readonly requests: readonly SeenRequest[];
  /** Connections so far, those without a request included. */
  readonly connectionCount: () => number;
  /** Resolves once every connection is gone. */
  readonly idle: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Real servers of one test file; `closeAll` belongs into its `afterEach`. */
export class TestServers {
  readonly #opened: TestServer[] = [];

  /** Serves HTTP, or HTTPS with a certificate. The listener runs once the body is read. */
  http(listener: Listener, where: Where = {}): Promise<TestServer> {
    const requests: SeenRequest[] = [];
    const reading: RequestListener = (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const { method, url, headers } = request;
        const body = Buffer.concat(chunks).toString();
        requests.push({ method, url, headers, body });
        listener(request, response, body);
      });
    };
    const { certificate } = where;
    const server =
      certificate === undefined
        ? createServer(reading)
        : createSecureServer({ key: certificate.keyPem, cert: certificate.certPem }, reading);
    if (where.onConnect !== undefined) server.on('connect', where.onConnect);
    return this.#open(server, requests, where);
  }

  /** Serves TCP: the listener gets each connection as it is. */
  raw(listener: (socket: Socket) => void): Promise<TestServer> {
    return this.#open(createRawServer(listener), [], {});
  }

  async closeAll(): Promise<void> {
    await Promise.all(this.#opened.splice(0).map((server) => server.close()));
  }

  async #open(server: Server, requests: SeenRequest[], { host }: Where): Promise<TestServer> {
    const sockets = new Set<Socket>();
    let connections = 0;
    let onIdle: () => void = () => undefined;
    server.on('connection', (socket: Socket) => {
      connections++;
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        if (sockets.size === 0) onIdle();
      });
    });
    await new Promise<void>((done) => server.listen(0, host ?? '127.0.0.1', done));
    const address = server.address();
    const opened: TestServer = {
      port: typeof address === 'object' && address !== null ? address.port : 0,
      requests,
      connectionCount: () => connections,
      idle: () =>
        new Promise((done) => {
          onIdle = done;
          if (sockets.size === 0) done();
        }),
      close: () =>
        new Promise((done) => {
          for (const socket of sockets) socket.destroy();
          server.close(() => done());
        }),
    };
    this.#opened.push(opened);
    return opened;
  }
}

type Listener = (request: IncomingMessage, response: ServerResponse, body: string) => void;

interface Where {
  /** @default 127.0.0.1 */
  readonly host?: string;
  readonly certificate?: Certificate;
  readonly onConnect?: (request: IncomingMessage, socket: Socket, head: Buffer) => void;
}

/** Addresses that this process began to connect to during an action, without TLS. */
export async function attemptsDuring(action: () => Promise<unknown>): Promise<readonly string[]> {
  const attempts: string[] = [];
  const onSocket = (message: unknown) => {
    if (typeof message !== 'object' || message === null || !('socket' in message)) return;
    if (!(message.socket instanceof Socket)) return;
    message.socket.on('connectionAttempt', (ip: string) => attempts.push(ip));
  };
  subscribe('net.client.socket', onSocket);
  try {
    await action();
  } finally {
    unsubscribe('net.client.socket', onSocket);
  }
  return attempts;
}
