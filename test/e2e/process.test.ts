import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { describe, expect, it } from 'vitest';

const main = new URL('../../dist/main.js', import.meta.url);

// Behaviour that only a separate process can show. `npm test` builds dist/ first.
describe('tailmark as a process', () => {
  const script = `import { main } from ${JSON.stringify(main.href)};
process.exitCode = await main(process.argv.slice(1));`;
  const start = (argv: readonly string[]) =>
    spawn(process.execPath, ['--input-type=module', '-e', script, '--', ...argv], {
      env: { PATH: process.env.PATH },
      stdio: ['ignore', 'pipe', 'pipe'],
    });

  it.each([
    [['--version'], 0],
    [['chek'], 64],
    [['check', '--config', 'absent.yaml'], 78],
  ])('%j exits %d', async (argv, expected) => {
    const [exitCode] = await once(start(argv), 'exit');
    expect(exitCode).toBe(expected);
  });

  it.each(['SIGINT', 'SIGTERM'] as const)(
    'that only reads ends at once with 130 by %s',
    async (signal) => {
      // A server that accepts the query and never responds.
      const server = createServer().listen(0, '127.0.0.1');
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo;
      const child = start(['backtest', '--clickhouse-url', `http://127.0.0.1:${port}`]);
      const [socket] = (await once(server, 'connection')) as [Socket];
      child.kill(signal);
      expect(await once(child, 'exit')).toEqual([130, null]);
      socket.destroy();
      server.close();
    },
  );

  it('exits 0 without an error when nothing reads its output', async () => {
    const child = start(['check', '--show']);
    let err = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      err += text;
    });
    child.stdout.destroy();
    const [exitCode] = await once(child, 'close');
    expect([exitCode, err]).toEqual([0, '']);
  });
});
