import { createServer, type Server } from 'node:net';

/**
 * Below the ephemeral ports of operating systems (from 32768 on Linux, 49152 elsewhere). An outgoing
 * connection could use one of those before the server listens.
 */
export const claimable = { from: 12_000, to: 22_000 } as const;
const host = '127.0.0.1';
/** A process claims a port by listening at this distance from it. */
const claimDistance = 10_000;
/** Claims of this process, kept until it ends. */
const claims = new Set<number>();

/**
 * Claims a port against other processes until this one ends, even while its server is down. The operating
 * system frees the claim when the process ends.
 *
 * @returns false where this or another process has already claimed it.
 */
export async function claimPort(port: number): Promise<boolean> {
  const server = await listenOn(port + claimDistance).catch(() => undefined);
  if (server === undefined) return false;
  server.unref();
  server.on('connection', (socket) => socket.destroy());
  claims.add(port);
  return true;
}

/**
 * Claims a port that this process may have claimed before. A port outside the claimable range needs no claim.
 *
 * @returns false where another process has claimed it.
 */
export async function claimAgain(port: number): Promise<boolean> {
  const isClaimable = port >= claimable.from && port < claimable.to;
  return !isClaimable || claims.has(port) || (await claimPort(port));
}

/** Listens on a loopback port; 0 means any. */
export function listenOn(port: number): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen({ host, port, exclusive: true }, () => resolve(server));
  });
}
