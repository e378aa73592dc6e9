import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** How a receiver misbehaves. */
export const troubles = ['timeout', 'reset', '500', '429', '401', 'half-body'] as const;
export type Trouble = (typeof troubles)[number];

/** One request that the receiver has accepted. */
export interface AcceptedPost {
  readonly atMs: number;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** A receiver that accepts everything, but for times of trouble. */
export class BadReceiver {
  readonly accepted: AcceptedPost[] = [];
  trouble: Trouble | undefined;
  requests = 0;
  readonly #status: number;
  readonly #text: (body: string) => string;
  #server: Server | undefined;
  #port = 0;

  /** @param text makes the body of a response. */
  constructor(status: number, text: (body: string) => string = () => 'ok') {
    this.#status = status;
    this.#text = text;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  async start(): Promise<void> {
    const server = createServer((request, response) => this.#receive(request, response));
    this.#server = server;
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    this.#port = (server.address() as AddressInfo).port;
  }

  stop(): void {
    this.#server?.closeAllConnections();
    this.#server?.close();
  }

  #receive(request: IncomingMessage, response: ServerResponse): void {
    let body = '';
    request.on('error', () => undefined);
    request.setEncoding('utf8').on('data', (part: string) => {
      body += part;
    });
    request.on('end', () => {
      this.requests++;
      if (this.#isRefused(request, response)) return;
      const { url: path = '', headers } = request;
      this.accepted.push({ atMs: Date.now(), path, headers, body });
      const text = this.#text(body);
      if (this.trouble === 'half-body') {
        // It was accepted, and the response breaks off.
        response.writeHead(this.#status, { 'content-length': String(text.length + 100) });
        response.write(text);
        setTimeout(() => request.socket.destroy(), 20);
        return;
      }
      response.writeHead(this.#status, { 'content-type': 'application/json' }).end(text);
    });
  }

  #isRefused(request: IncomingMessage, response: ServerResponse): boolean {
    const { trouble } = this;
    if (trouble === undefined || trouble === 'half-body') return false;
    if (trouble === 'reset') request.socket.resetAndDestroy();
    else if (trouble !== 'timeout') {
      const headers = trouble === '429' ? { 'retry-after': '2' } : {};
      response.writeHead(Number(trouble), headers).end(trouble);
    }
    return true;
  }
}
