import { randomInt } from 'node:crypto';
import { createServer, type Server } from 'node:net';
import { OperatorError } from '../base/operator-error.ts';

export interface WantedPort {
  /** Requested by the operator: it must be free. */
  readonly given?: number | undefined;
  /** Used by the last start: used again if free. */
  readonly last?: number | undefined;
  /** The operator's name for it: `--kafka-port`. */
  readonly flag: string;
}

/** Attempts to find a free port; many may be in use or claimed. */
const tries = 100;

/**
 * Below the ephemeral ports of operating systems (from 32768 on Linux, 49152 elsewhere). An outgoing
 * connection could use one of those before the server listens.
 */
const claimable = { from: 12_000, to: 22_000 } as const;
const host = '127.0.0.1';
/** A process claims a port by listening at this distance from it. */
const claimDistance = 10_000;
/** Claims of this process, kept until it ends. */
const claims = new Set<number>();

/**
 * Chooses different ports: the given one, else the last one if free, else any free one. They are claimed
 * against other processes that choose ports here. Nothing listens on them yet.
 *
 * @throws OperatorError TAILMARK_PORT_TAKEN.
 */
export async function choosePorts(wanted: readonly WantedPort[]): Promise<number[]> {
  const held: Server[] = [];
  try {
    // Requested ports come first, so that no random port takes one of them.
    const order = wanted.map((_, index) => index).sort((a, b) => rank(wanted[a]) - rank(wanted[b]));
    const ports: number[] = [];
    for (const index of order) {
      const server = await hold(wanted[index] as WantedPort);
      held.push(server);
      const address = server.address();
      ports[index] = address !== null && typeof address === 'object' ? address.port : 0;
    }
    return ports;
  } finally {
    await Promise.all(held.map((server) => new Promise((resolve) => server.close(resolve))));
  }
}

/** Chooses a port per entry: the given one, else a free one. */
export function freePorts(given: readonly (number | undefined)[]): Promise<number[]> {
  return choosePorts(given.map((port) => ({ given: port, flag: 'port' })));
}

function rank(wanted: WantedPort | undefined): number {
  if (wanted?.given !== undefined) return 0;
  return wanted?.last === undefined ? 2 : 1;
}

async function hold(wanted: WantedPort): Promise<Server> {
  const { given, last, flag } = wanted;
  if (given !== undefined) {
    try {
      return await listenOn(given);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      const why = code === 'EADDRINUSE' ? 'taken by another program' : `refused (${code})`;
      throw new OperatorError(
        'TAILMARK_PORT_TAKEN',
        `Cannot listen: ${flag} must be a free port; it is ${given}, which is ${why}`,
        {
          hint: `Choose another port with ${flag}, or leave it out to get a free one.`,
          cause: error,
        },
      );
    }
  }
  if (last !== undefined) {
    try {
      if (await claimAgain(last)) return await listenOn(last);
    } catch {
      // Another process has it now: any other port will do.
    }
  }
  for (let n = 0; n < tries; n++) {
    const port = randomInt(claimable.from, claimable.to);
    if (!(await claimPort(port))) continue;
    const server = await listenOn(port).catch(() => undefined);
    if (server !== undefined) return server;
  }
  return listenOn(0);
}

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
async function claimAgain(port: number): Promise<boolean> {
  const isClaimable = port >= claimable.from && port < claimable.to;
  return !isClaimable || claims.has(port) || (await claimPort(port));
}

/** Listens on a loopback port; 0 means any. */
function listenOn(port: number): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen({ host, port, exclusive: true }, () => resolve(server));
  });
}
