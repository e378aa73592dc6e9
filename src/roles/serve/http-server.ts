import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { OperatorError } from '../../base/operator-error.ts';
import { knownSecrets } from '../../base/telemetry/known-secrets.ts';

/** Health and metrics of the process. */
export interface Health {
  /** All metrics in Prometheus' text format. */
  metrics(): Promise<string>;
  /** Reasons why the process is unhealthy; empty when it is healthy. */
  problems(): readonly string[];
  /** Notes for the operator about a healthy process. */
  notes(): readonly string[];
}

/** Prometheus' text format, version 0.0.4. */
const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

export interface HttpServer {
  /** `http://host:port`, with the actual port. */
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Serves /healthz (the process runs), /readyz (200 or 503 with the reasons, then notes) and /metrics
 * (Prometheus text).
 *
 * @param listen `host:port`; port 0 means any free one.
 * @throws OperatorError TAILMARK_PORT_TAKEN when the address is in use.
 */
export async function startHttpServer(listen: string, health: Health): Promise<HttpServer> {
  const server = createServer((request, response) => {
    const path = (request.url ?? '/').split('?', 1)[0];
    const answer = (status: number, type: string, body: string) => {
      response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' });
      response.end(request.method === 'HEAD' ? undefined : knownSecrets.hide(body));
    };
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      answer(405, 'text/plain', 'GET only\n');
    } else if (path === '/healthz') {
      answer(200, 'text/plain', 'ok\n');
    } else if (path === '/readyz') {
      const problems = health.problems();
      const isReady = problems.length === 0;
      const lines = [...(isReady ? ['ready'] : problems), ...health.notes()];
      answer(isReady ? 200 : 503, 'text/plain', `${lines.join('\n')}\n`);
    } else if (path === '/metrics') {
      health.metrics().then(
        (text) => answer(200, METRICS_TYPE, text),
        (error: unknown) => answer(500, 'text/plain', `${String(error)}\n`),
      );
    } else {
      answer(404, 'text/plain', 'see /healthz, /readyz and /metrics\n');
    }
  });
  const split = listen.lastIndexOf(':');
  const host = listen.slice(0, split);
  await listening(server, host, Number(listen.slice(split + 1)), listen);
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${host}:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function listening(server: Server, host: string, port: number, listen: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) => {
      reject(
        new OperatorError(
          'TAILMARK_PORT_TAKEN',
          `Cannot serve health and metrics: http.listen must be free; it is ${listen} (${error.message})`,
          {
            hint: 'Set http.listen (TAILMARK_HTTP_LISTEN) to another port; 0 takes any free one.',
            cause: error,
          },
        ),
      );
    });
    server.listen(port, host, () => resolve());
  });
}
