import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { HttpPost, HttpResult, HttpSender } from '../../../../src/alert/http/http-sender.ts';

export interface SeenRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** A response of the server: 200 without a body where a field is left out; `hang` never responds. */
export interface Respond {
  readonly status?: number;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly hang?: boolean;
}

export interface LocalReceiver {
  readonly url: string;
  readonly seen: SeenRequest[];
  /** Responses in turn; the last one from then on. */
  respond: (request: SeenRequest) => Respond;
  readonly http: HttpSender;
  close(): Promise<void>;
}

/** An HTTP server that plays a receiver, and a sender that reaches it. */
export async function localReceiver(
  respond: (request: SeenRequest) => Respond = () => ({}),
): Promise<LocalReceiver> {
  const seen: SeenRequest[] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const { url: path = '', headers } = request;
      const one = { path, headers, text: Buffer.concat(parts).toString('utf8') };
      seen.push(one);
      const { status = 200, body = '', headers: sent = {}, hang = false } = local.respond(one);
      if (!hang) response.writeHead(status, sent).end(body);
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  const local: LocalReceiver = {
    url: `http://127.0.0.1:${port}`,
    seen,
    respond,
    http: fetchSender(),
    close: async () => {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
  return local;
}

/** A sender on `fetch`, which reads at most 4 kB of a response. */
export function fetchSender(): HttpSender {
  return {
    async post({ url, headers, body }: HttpPost): Promise<HttpResult> {
      try {
        const response = await fetch(url, { method: 'POST', headers, body, redirect: 'manual' });
        const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
        const date = response.headers.get('date');
        return {
          status: response.status,
          text: (await response.text()).slice(0, 4096),
          retryAfterMs: seconds >= 0 ? seconds * 1000 : undefined,
          dateMs: date === null ? undefined : Date.parse(date),
        };
      } catch {
        return { error: 'no connection' };
      }
    },
    close: async () => undefined,
  };
}

/** A sender whose results are given, in turn, the last one from then on. */
export function scriptedSender(...results: readonly HttpResult[]) {
  const posts: HttpPost[] = [];
  const sender: HttpSender = {
    async post(request) {
      posts.push(request);
      return results[Math.min(posts.length, results.length) - 1] ?? { error: 'none is given' };
    },
    close: async () => undefined,
  };
  return { sender, posts };
}

/** A response without a body, or with one. */
export function responseOf(status: number, text = '', dateMs?: number): HttpResult {
  return { status, text, retryAfterMs: undefined, dateMs };
}
