import { connect, isIP } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { ISocketFactory } from 'kafkajs';
import { FrameAssembler } from './frame-assembler.ts';

const KEEP_ALIVE_MS = 60_000;
/** Read at once, at most. */
const READ_BYTES = 512 * 1024;

/**
 * Sockets as kafkajs makes them, but for how they are read: left to itself Node takes a new buffer
 * of 64 KiB for each read, and kafkajs copies all that it has of an answer together at its end.
 * Here a socket has one buffer to read into, and gives each answer whole. With TLS it is as ever.
 */
export function frameSockets(): ISocketFactory {
  return ({ host, port, ssl, onConnect }) => {
    const socket = ssl ? encrypted(host, port, ssl, onConnect) : plain(host, port, onConnect);
    socket.setKeepAlive(true, KEEP_ALIVE_MS);
    return socket;
  };
}

function encrypted(host: string, port: number, ssl: object, onConnect: () => void) {
  const name = isIP(host) === 0 ? { servername: host } : {};
  return connectTls({ host, port, ...name, ...ssl }, onConnect);
}

function plain(host: string, port: number, onConnect: () => void) {
  const frames = new FrameAssembler((frame) => socket.emit('data', frame));
  const onread = {
    buffer: Buffer.allocUnsafeSlow(READ_BYTES),
    callback: (count: number, buffer: Uint8Array) => {
      frames.take(buffer.subarray(0, count));
      return true;
    },
  };
  const socket = connect({ host, port, onread }, onConnect);
  return socket;
}
