import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { getRequestListener, RequestError } from '@hono/node-server';
import type { Hono } from 'hono';
import { systemClock } from '../../base/clock.ts';
import { hostPort } from '../../base/host-port.ts';
import { invariant } from '../../base/invariant.ts';
import { OperatorError } from '../../base/operator-error.ts';
import type { Logger } from '../../base/telemetry/log.ts';
import type { Config } from '../../config/schema.ts';
import { type ConnectionLimits, Connections, type ConnectionsOptions } from './connections.ts';
import { Problem, responseOfProblem } from './problem.ts';
import { faultProblem } from './respond.ts';

export interface HttpServer {
  /** `http://host:port`, with the actual port. */
  readonly url: string;
  close(): Promise<void>;
}

export interface HttpServerOptions extends Pick<ConnectionsOptions, 'metrics'> {
  readonly log: Logger;
  readonly http: Config['http'];
  readonly app: Hono;
}

/**
 * Bounds of connections.
 *
 * | value | unit | why |
 * |---|---|---|
 * | 1,000 | connections | a process has descriptors for that many, beside its own |
 * | 16 | unanswered requests of a connection | browsers and proxies send none ahead of the answer |
 * | 1 s | waiting for a request | a probe sends it within milliseconds |
 * | 10 s | answering | questions get an answer within 8 s |
 */
const connectionLimits: ConnectionLimits = {
  ...{ connections: 1_000, unanswered: 16, sendingMs: 1_000, answeringMs: 10_000 },
};

/**
 * | value | unit | why |
 * |---|---|---|
 * | 5 s | interval of looking for slow clients | one that sends a byte a second ends with its time |
 * | 5 s | headers, longer than an idle connection | one that a balancer has opened ahead is idle, not slow |
 */
const timeLimits = { checkMs: 5_000, headersLongerMs: 5_000 } as const;

/**
 * Serves an app at `http.listen`; port 0 means any free one. What never reaches the app is refused with a
 * problem too.
 *
 * @throws OperatorError TAILMARK_PORT_TAKEN when the address is in use.
 */
export async function openHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  const { http, app, log, metrics } = options;
  const { listen } = http;
  const connections = new Connections({
    ...{ log, metrics, clock: systemClock, limits: connectionLimits },
  });
  const respond = getRequestListener(app.fetch, {
    // HTTP/1.0 needs no `Host`.
    hostname: 'localhost',
    errorHandler: (error) => responseToError(error, log),
  });
  const server = createServer(
    { ...connectionTimes(http), requireHostHeader: false },
    (request, response) => {
      connections.answer(request, response, () => {
        // Of every answer, whoever makes it: a browser takes none for what it is not said to be.
        response.setHeader('x-content-type-options', 'nosniff');
        const refusal = refusalOf(request);
        if (refusal === undefined) void respond(request, response);
        else writeProblem(response, refusal);
      });
    },
  );
  connections.follow(server);
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) =>
    connections.answer(request, response, () => {
      response.setHeader('x-content-type-options', 'nosniff');
      writeProblem(response, new Problem(417, 'Expect must be 100-continue, or not be sent.'));
    }),
  );
  server.on('clientError', (error: Error & { code?: string }, socket: Socket) =>
    refuseUnreadable(socket, error.code ?? '', connections.isBusy(socket)),
  );
  await listenAt(server, listen);
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${listen.slice(0, listen.lastIndexOf(':'))}:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function listenAt(server: Server, listen: string): Promise<void> {
  const address = hostPort(listen);
  invariant(address !== undefined, `http.listen must be host:port; it is ${listen}`);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(address.port, address.host, resolve);
  }).catch((error: Error) => {
    throw new OperatorError(
      'TAILMARK_PORT_TAKEN',
      `Cannot serve health and metrics: http.listen must be free; it is ${listen} (${error.message})`,
      {
        hint: 'Set http.listen (TAILMARK_HTTP_LISTEN) to another port; 0 takes any free one.',
        cause: error,
      },
    );
  });
}

/**
 * Times that connections are kept. Balancers use an idle one again until their own time-out, and lose the
 * request where the server has closed it meanwhile.
 */
export function connectionTimes({
  keep_alive_timeout: keepAliveTimeout,
  request_timeout,
}: Pick<Config['http'], 'keep_alive_timeout' | 'request_timeout'>) {
  const headersTimeout = keepAliveTimeout + timeLimits.headersLongerMs;
  return {
    keepAliveTimeout,
    headersTimeout,
    requestTimeout: Math.max(request_timeout, headersTimeout),
    connectionsCheckingInterval: timeLimits.checkMs,
  };
}

/** The refusal of a request before any route. Node would write it without a word. */
function refusalOf({ headersDistinct, httpVersion }: IncomingMessage): Problem | undefined {
  const { host: hosts = [] } = headersDistinct;
  if (hosts.length > 1) return new Problem(400, 'A request must name its Host once.');
  if (httpVersion !== '1.1' || hosts.length === 1) return undefined;
  return new Problem(400, 'A request of HTTP/1.1 must name its Host.');
}

/** The response to an error outside of the app: an address that is none. */
function responseToError(error: unknown, log: Logger): Response {
  const isTheirs = error instanceof RequestError;
  if (!isTheirs) log.error({ err: error }, 'a request failed');
  const problem = isTheirs
    ? new Problem(400, 'The path and the Host of the request must make an address.')
    : faultProblem();
  const { status, body, headers } = responseOfProblem(problem);
  return new Response(body, { status, headers });
}

function writeProblem(response: ServerResponse, problem: Problem): void {
  const { status, body, headers } = responseOfProblem(problem);
  const length = { 'content-length': Buffer.byteLength(body) };
  response.writeHead(status, { ...headers, ...length }).end(body);
}

/** Refuses what is no request, or came too slowly. @param isBusy true where the answer to another one may be on its way */
function refuseUnreadable(socket: Socket, code: string, isBusy: boolean): void {
  if (isBusy || !socket.writable || code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const { status, title, body, headers } = responseOfProblem(problemOfParser(code));
  const lines = Object.entries({
    ...{ ...headers, 'x-content-type-options': 'nosniff', connection: 'close' },
    'content-length': String(Buffer.byteLength(body)),
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`HTTP/1.1 ${status} ${title}\r\n${lines.join('')}\r\n${body}`);
  socket.destroySoon();
}

function problemOfParser(code: string): Problem {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return new Problem(431, 'The address and the headers must have at most 16 KiB.');
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return new Problem(413, 'The extensions of chunks must have at most 16 KiB.');
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new Problem(408, 'The request did not arrive within its time: send it at once.');
    default:
      return new Problem(
        400,
        'This is no request of HTTP/1.1: its method, path or headers are malformed.',
      );
  }
}
