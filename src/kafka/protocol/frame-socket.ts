import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { ISocketFactory } from 'kafkajs';
import { minuteMs } from '../../base/time.ts';
import { FrameAssembler } from './frame-assembler.ts';
import type { FramePool } from './frame-pool.ts';

const KEEP_ALIVE_MS = minuteMs;

/**
 * Creates sockets like kafkajs, except for reading. By default Node allocates 64 KiB per read, and kafkajs
 * concatenates all parts of a response. Here a response is read directly into its place and emitted whole.
 * TLS sockets are unchanged.
 */
export function frameSockets(pool: FramePool): ISocketFactory {
  return ({ host, port, ssl, onConnect }) => {
    const name = isIP(host) === 0 ? { servername: host } : {};
    const socket = ssl
      ? connectTls({ host, port, ...name, ...ssl }, onConnect)
      : frameSocket(host, port, pool, onConnect);
    socket.setKeepAlive(true, KEEP_ALIVE_MS);
    return socket;
  };
}

/** A socket that emits each whole frame as one 'data' event. */
export function frameSocket(
  host: string,
  port: number,
  pool: FramePool,
  onConnect?: () => void,
): Socket {
  const frames = new FrameAssembler(pool, (frame) => socket.emit('data', frame));
  const onread = {
    buffer: () => frames.readTarget(),
    callback: (count: number) => {
      frames.received(count);
      return true;
    },
  };
  const socket: Socket = connect({ host, port, onread }, onConnect);
  return socket;
}
