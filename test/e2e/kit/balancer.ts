import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A TCP balancer: connections go to its servers in turn. */
export interface Balancer {
  readonly url: string;
  /** Ends every connection, and sends new ones to these servers. */
  lead(...urls: string[]): void;
  /** Sends new connections to these servers, and keeps the others. */
  leadNew(...urls: string[]): void;
  close(): Promise<void>;
}

export async function startBalancer(...urls: string[]): Promise<Balancer> {
  let servers = urls;
  let turn = 0;
  const sockets = new Set<Socket>();
  const listener = createServer((client) => {
    const { hostname, port } = new URL(servers[turn++ % servers.length] as string);
    const server = connect(Number(port), hostname);
    for (const socket of [client, server]) {
      sockets.add(socket);
      socket.on('error', () => socket.destroy());
      socket.on('close', () => {
        sockets.delete(socket);
        client.destroy();
        server.destroy();
      });
    }
    client.pipe(server).pipe(client);
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: `http://127.0.0.1:${(listener.address() as AddressInfo).port}`,
    lead: (...others) => {
      servers = others;
      cut();
    },
    leadNew: (...others) => {
      servers = others;
    },
    close: async () => {
      cut();
      listener.close();
      await once(listener, 'close');
    },
  };
}
