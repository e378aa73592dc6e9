import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** A registry on loopback whose answers a test chooses. */
export interface RegistryServer {
  readonly url: string;
  /** `METHOD path` of every request, in order. */
  readonly requests: string[];
  readonly headers: IncomingMessage['headers'][];
  close(): Promise<void>;
}

export async function startRegistry(
  handler: Handler,
  server: Server = createServer(),
  protocol = 'http',
): Promise<RegistryServer> {
  const requests: string[] = [];
  const headers: IncomingMessage['headers'][] = [];
  server.on('request', (request, response) => {
    requests.push(`${request.method} ${request.url}`);
    headers.push(request.headers);
    handler(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `${protocol}://127.0.0.1:${port}`,
    requests,
    headers,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

export function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/vnd.schemaregistry.v1+json' });
  response.end(JSON.stringify(body));
}
