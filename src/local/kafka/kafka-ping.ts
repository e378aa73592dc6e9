import { connect } from 'node:net';

const timeoutMs = 2_000;
/** ApiVersions v0 with correlation id 7 and no client id. Brokers respond to it before a login. */
const request = Buffer.from('0000000a0012000000000007ffff', 'hex');

/** Checks that a Kafka broker responds on this loopback port. Never rejects. */
export function kafkaPing(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port });
    let received = Buffer.alloc(0);
    const finish = (answer: boolean) => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(timeoutMs, () => finish(false));
    socket.on('connect', () => socket.write(request));
    socket.on('data', (part: Buffer) => {
      received = Buffer.concat([received, part]);
      // Length, correlation id, error code: 0 is "none".
      if (received.length >= 10) {
        finish(received.readInt32BE(4) === 7 && received.readInt16BE(8) === 0);
      }
    });
    socket.on('error', () => finish(false));
    socket.on('close', () => finish(false));
  });
}
