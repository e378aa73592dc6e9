// Covers src/cli/waiting.ts.

import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { expect, it, vi } from 'vitest';
import { main } from '../../src/main.ts';
import { capturedIo } from './captured-io.ts';

/** A server that accepts connections and never answers. */
async function startSilent() {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

const ranges = ['--a-from', '26h', '--a-to', '25h', '--b-from', '2h', '--b-to', '1h'];
const ofRequest = 'a request may take 20 s (clickhouse.request_timeout)';

it.concurrent.each([
  ['read tails', ['tails']],
  ['read tails', ['tails', '--model', 'm', '--by', 'host']],
  ['compare versions', ['compare', '--model', 'm', '--a', 'v1', '--b', 'v2']],
  ['compare ranges', ['compare', '--model', 'm', ...ranges]],
  ['explain an anomaly', ['explain', '7422f22f']],
  ['read anomalies', ['anomalies']],
  ['verify the ledger', ['verify']],
  ['read and write mutes', ['mute']],
  ['preview deliveries', ['alert', 'preview']],
  ['read windows of the past', ['backtest', '--from', '2h']],
  ['migrate the database', ['migrate']],
  ['probe it', ['check', '--connect'], 'gives up after 15 s'],
])(
  'a command that waits to %s says so after two seconds: %j',
  async (doing, argv, limit = ofRequest) => {
    const silent = await startSilent();
    const env = {
      ...{ TAILMARK_CLICKHOUSE_URL: silent.url, TAILMARK_CLICKHOUSE_REQUEST_TIMEOUT: '20s' },
      ...{ TAILMARK_SOURCE_TYPE: 'file', TAILMARK_SOURCE_PATH: '/dev/null' },
    };
    const { io, out, err } = capturedIo({ env });
    const ended = main(argv, io);
    // It would give up by itself much later.
    await vi.waitFor(() => expect(err()).not.toBe(''), { timeout: 12_000 });
    expect(err()).toBe(
      `Waiting for ClickHouse at ${silent.url} to ${doing}: 2 s so far; ${limit}\n`,
    );
    expect(out()).toBe('');
    silent.close();
    expect(await ended).not.toBe(0);
  },
);
