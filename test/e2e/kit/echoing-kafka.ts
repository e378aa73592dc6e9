import { createServer, type Socket } from 'node:net';
import { int16, int32, int64 } from '../../kafka/kafka-integers.ts';

/** A server that refuses, and quotes all it received. */
export interface Echo {
  readonly address: string;
  /** Received text. */
  heard(): string;
  close(): void;
}

const apiVersions = 18;
const saslHandshake = 17;
const saslAuthenticate = 36;
const authenticationFailed = 58;

/** A broker that refuses every login and quotes it in its response: as it is, and in base64. */
export async function startEchoingKafka(): Promise<Echo> {
  let heard = '';
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    let received = Buffer.alloc(0);
    socket.on('error', () => socket.destroy());
    socket.on('data', (part) => {
      received = Buffer.concat([received, part]);
      while (received.length >= 4 && received.length >= 4 + received.readInt32BE(0)) {
        const request = received.subarray(4, 4 + received.readInt32BE(0));
        received = received.subarray(4 + request.length);
        const { answer, sent } = answerTo(request);
        heard += sent;
        socket.write(Buffer.concat([int32(answer.length + 4), request.subarray(4, 8), answer]));
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return {
    address: `127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`,
    heard: () => heard,
    close: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** A response without its length and correlation id. */
function answerTo(request: Buffer): { answer: Buffer; sent: string } {
  const api = request.readInt16BE(0);
  const version = request.readInt16BE(2);
  if (api === apiVersions) {
    const served = [3, saslHandshake, apiVersions, saslAuthenticate];
    const ranges = served.map((key) => Buffer.concat([key, 0, 1].map(int16)));
    const rest = version > 0 ? [int32(0)] : [];
    return {
      answer: Buffer.concat([int16(0), int32(served.length), ...ranges, ...rest]),
      sent: '',
    };
  }
  if (api === saslHandshake) {
    const mechanisms = ['PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512', 'OAUTHBEARER'];
    const answer = [int16(0), int32(mechanisms.length), ...mechanisms.map(text)];
    return { answer: Buffer.concat(answer), sent: '' };
  }
  // Header: key, version, correlation id, client id; then the length of the login and the login.
  const login = request.subarray(10 + Math.max(0, request.readInt16BE(8)) + 4);
  const sent = login.toString().replaceAll('\0', ' ').trim();
  const parts = sent.split(/[^\x21-\x7e]/).map((part) => Buffer.from(part).toString('base64'));
  const message = text(`cannot accept ${sent} (${parts.join(' ')} ${login.toString('base64')})`);
  const answer = [
    int16(authenticationFailed),
    message,
    int32(0),
    ...(version > 0 ? [int64(0)] : []),
  ];
  return { answer: Buffer.concat(answer), sent };
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([int16(bytes.length), bytes]);
}
