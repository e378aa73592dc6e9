import { type Patchable, patchOnce } from '../patch-once.ts';

/** The used part of kafkajs' `Connection` (src/network/connection.js). */
interface Connection {
  readonly socket: object | undefined;
  readonly connectionStatus: string;
  disconnect(): Promise<unknown>;
}

interface Disconnect {
  readonly socket: object | undefined;
  readonly done: Promise<unknown>;
}

/**
 * Lets all who disconnect a connection wait for the same thing. In kafkajs 2.2.4 each of them adds listeners
 * to the socket and to the queue of requests. While a broker is away they are many, and Node warns of a leak.
 */
export function disconnectOnce(connection: Patchable<Connection>): void {
  const pending = new WeakMap<Connection, Disconnect>();
  const ended = new WeakSet<object>();
  patchOnce(connection, 'disconnectOnce', ['disconnect'], ({ disconnect }) => ({
    disconnect(this: Connection) {
      const { socket } = this;
      const before = pending.get(this);
      if (before !== undefined && before.socket === socket) return before.done;
      const isOver = socket !== undefined && ended.has(socket);
      if (isOver && this.connectionStatus === 'disconnected') return Promise.resolve(true);
      const done = disconnect.call(this).finally(() => {
        pending.delete(this);
        if (socket !== undefined) ended.add(socket);
      });
      pending.set(this, { socket, done });
      return done;
    },
  }));
}
