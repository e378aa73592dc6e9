import { connect, type Socket } from 'node:net';

export interface RawConnection {
  readonly socket: Socket;
  /** All that has arrived so far. */
  received(): string;
  /** Resolves when the server has closed it, with the milliseconds since it was opened. */
  readonly closed: Promise<number>;
}

/** Time within which a server closes what it is to close. */
const deadlineMs = 30_000;

const open: Socket[] = [];

/** Opens a connection to a server and sends a text as it is. */
export async function openRaw(url: string, text: string): Promise<RawConnection> {
  const { port } = new URL(url);
  const socket = connect(Number(port), '127.0.0.1');
  open.push(socket);
  let received = '';
  socket.on('data', (part) => {
    received += part.toString('latin1');
  });
  socket.on('error', () => undefined);
  await new Promise((resolve) => socket.once('connect', resolve));
  const fromMs = performance.now();
  const closed = new Promise<number>((resolve, reject) => {
    const late = () => reject(new Error('The server has not closed the connection.'));
    const timer = setTimeout(late, deadlineMs);
    socket.once('close', () => {
      clearTimeout(timer);
      resolve(performance.now() - fromMs);
    });
  });
  closed.catch(() => undefined);
  if (text !== '') socket.write(text);
  return { socket, received: () => received, closed };
}

/** Closes all that a test has opened. */
export function closeRaw(): void {
  for (const socket of open.splice(0)) socket.destroy();
}
