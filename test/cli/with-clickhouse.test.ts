// Covers src/cli/waiting.ts.

import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { expect, it, vi } from 'vitest';
import { main } from '../../src/main.ts';
import { capturedIo } from './captured-io.ts';

/**
 * A server that accepts connections and never answers.
 *
 * @param answersPings true where it answers GET /ping.
 */
async function startSilent(answersPings = false) {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('data', (bytes) => {
      const isPing = bytes.toString().startsWith('GET /ping ');
      if (answersPings && isPing) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nOk.');
    });
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
const ofReading = `${ofRequest}, if the server responds to pings within 8 s`;

function environment(url: string) {
  return {
    ...{ TAILMARK_CLICKHOUSE_URL: url, TAILMARK_CLICKHOUSE_REQUEST_TIMEOUT: '20s' },
    ...{ TAILMARK_SOURCE_TYPE: 'file', TAILMARK_SOURCE_PATH: '/dev/null' },
  };
}

it.concurrent('a command gives up long before its request does where the server hangs, and says so', async () => {
  const silent = await startSilent();
  const env = { ...environment(silent.url), TAILMARK_CLICKHOUSE_REQUEST_TIMEOUT: '1h' };
  const { io, out, err } = capturedIo({ env });
  expect(await main(['explain', '7422f22f'], io)).toBe(69);
  expect(out()).toBe('');
  const [, ...lines] = err()
    .replace(/for \d+ s,/, 'for N s,')
    .split('\n');
  expect(lines).toEqual([
    `error: Cannot explain an anomaly: ClickHouse does not respond at clickhouse.url: ${silent.url} (nothing for N s, not even to /ping)`,
    'hint: The server hangs, or a firewall drops packets: see its log, and restart it.',
    'code: TAILMARK_CLICKHOUSE_UNREACHABLE',
    '',
  ]);
  silent.close();
});

it.concurrent('a request that takes long has all its time while the server answers pings', async () => {
  const silent = await startSilent(true);
  const { io, err } = capturedIo({ env: environment(silent.url) });
  const startMs = performance.now();
  expect(await main(['explain', '7422f22f'], io)).toBe(69);
  expect(performance.now() - startMs).toBeGreaterThan(19_000);
  expect(err()).toContain('(Timeout error.)\nhint: Ask it for /ping with curl. If it says Ok, ');
  silent.close();
});

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
  ['migrate the database', ['migrate'], ofRequest],
  ['probe it', ['check', '--connect'], 'gives up after 15 s'],
])(
  'a command that waits to %s says so after two seconds: %j',
  async (doing, argv, limit = ofReading) => {
    const silent = await startSilent();
    const { io, out, err } = capturedIo({ env: environment(silent.url) });
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
