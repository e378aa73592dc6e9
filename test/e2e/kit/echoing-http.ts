import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Echo } from './echoing-kafka.ts';

/**
 * An HTTP server that refuses, and quotes the address, the headers, the login in them and the body of the
 * request. With a ClickHouse error number it does so as ClickHouse does.
 */
export async function startEchoingHttp(status: number, errorNumber?: number): Promise<Echo> {
  let heard = '';
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const part of request) body += String(part);
    const basic = /^Basic (.*)/.exec(request.headers.authorization ?? '')?.[1] ?? '';
    const login = Buffer.from(basic, 'base64').toString();
    const sent = `${request.url} ${JSON.stringify(request.headers)} ${login} ${body}`;
    heard += sent;
    const code = errorNumber === undefined ? '' : `Code: ${errorNumber}. DB::Exception: `;
    const headers =
      errorNumber === undefined ? {} : { 'x-clickhouse-exception-code': String(errorNumber) };
    response.writeHead(status, headers);
    response.end(`${code}cannot accept ${sent}. (ECHO) (version 26.7)`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    heard: () => heard,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
