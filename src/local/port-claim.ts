import { createServer, type Server } from 'node:net';

/**
 * They lie below those that systems give to outgoing connections (32768 on Linux, 49152 elsewhere), which
 * could take one before the server listens.
 */
export const claimable = { from: 12_000, to: 22_000 } as const;
const host = '127.0.0.1';
/** The claim of a port is to listen at this distance. */
const claimDistance = 10_000;
/** Of this process, until it ends. */
const claims = new Map<number, Server>();

/**
 * Claims a port against other processes until this one ends, also while its server is down: before its
 * start, and while it starts again. When the process ends, the operating system frees the claim.
 *
 * @returns false where another process has claimed it, or this one has.
 */
export async function claimPort(port: number): Promise<boolean> {
  const server = await listenOn(port + claimDistance).catch(() => undefined);
  if (server === undefined) return false;
  server.unref();
  server.on('connection', (socket) => socket.destroy());
  claims.set(port, server);
  return true;
}

/** Whether no other process has claimed this port, which is claimed then if it is one of those that can be. */
export async function isOurs(port: number): Promise<boolean> {
  const isClaimable = port >= claimable.from && port < claimable.to;
  return !isClaimable || claims.has(port) || (await claimPort(port));
}

/** Listens on a port of the loopback; 0 for any. */
export function listenOn(port: number): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen({ host, port, exclusive: true }, () => resolve(server));
  });
}
