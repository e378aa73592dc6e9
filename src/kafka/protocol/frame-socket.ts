import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { ISocketFactory } from 'kafkajs';
import { FrameAssembler } from './frame-assembler.ts';
import type { FramePool } from './frame-pool.ts';

const KEEP_ALIVE_MS = 60_000;

/**
 * Sockets as kafkajs makes them, but for how they are read: left to itself Node takes a new buffer
 * of 64 KiB for each read, and kafkajs copies all that it has of an answer together at its end.
 * Here an answer is read right into its place, and given whole. With TLS it is as ever.
 */
export function frameSockets(pool: FramePool): ISocketFactory {
  return ({ host, port, ssl, onConnect }) => {
    const socket = ssl
      ? encrypted(host, port, ssl, onConnect)
      : frameSocket(host, port, pool, onConnect);
    socket.setKeepAlive(true, KEEP_ALIVE_MS);
    return socket;
  };
}

function encrypted(host: string, port: number, ssl: object, onConnect: () => void) {
  const name = isIP(host) === 0 ? { servername: host } : {};
  return connectTls({ host, port, ...name, ...ssl }, onConnect);
}

/** A socket that gives each frame whole, as one 'data' event. */
export function frameSocket(
  host: string,
  port: number,
  pool: FramePool,
  onConnect?: () => void,
): Socket {
  const frames = new FrameAssembler(pool, (frame) => socket.emit('data', frame));
  const onread = {
    buffer: () => frames.room(),
    callback: (count: number) => {
      frames.received(count);
      return true;
    },
  };
  const socket: Socket = connect({ host, port, onread }, onConnect);
  return socket;
}
