import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { choosePorts, claimPort, freePorts } from '../../src/local/local-ports.ts';

const servers: Server[] = [];
afterEach(async () => {
  const closing = servers.splice(0).map((server) => new Promise((done) => server.close(done)));
  await Promise.all(closing);
});

async function takenPort(): Promise<number> {
  const server = createServer();
  servers.push(server);
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return (server.address() as { port: number }).port;
}

describe('choosePorts', () => {
  it('refuses a given port that is taken, naming port and flag', async () => {
    const port = await takenPort();
    await expect(choosePorts([{ given: port, flag: '--kafka-port' }])).rejects.toMatchObject({
      code: 'TAILMARK_PORT_TAKEN',
      exitCode: 69,
      message: `Cannot listen: --kafka-port must be a free port; it is ${port}, which is taken by another program`,
    });
  });

  it('refuses the same port given twice', async () => {
    const [port = 0] = await freePorts([undefined]);
    await expect(
      choosePorts([
        { given: port, flag: '--kafka-port' },
        { given: port, flag: '--clickhouse-port' },
      ]),
    ).rejects.toMatchObject({ code: 'TAILMARK_PORT_TAKEN' });
  });

  it('takes the last port if it is free, else another', async () => {
    const [free = 0] = await freePorts([undefined]);
    expect(await choosePorts([{ last: free, flag: 'x' }])).toEqual([free]);
    const taken = await takenPort();
    const [other = 0] = await choosePorts([{ last: taken, flag: 'x' }]);
    expect(other).toBeGreaterThan(0);
    expect(other).not.toBe(taken);
  });

  it('takes no port that another process has chosen, though nothing listens there yet', async () => {
    const module = new URL('../../dist/local/local-ports.js', import.meta.url);
    const code = `import { freePorts } from ${JSON.stringify(module.href)};
      console.log((await freePorts([undefined]))[0]);
      setInterval(() => {}, 1000);`;
    const args = ['--input-type=module', '-e', code];
    const other = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    try {
      const [line] = await once(other.stdout, 'data');
      const port = Number(line);
      expect(port).toBeGreaterThan(0);
      expect(await choosePorts([{ last: port, flag: 'x' }])).not.toEqual([port]);
      expect(await claimPort(port)).toBe(false);
      other.kill('SIGKILL');
      await once(other, 'exit');
      expect(await choosePorts([{ last: port, flag: 'x' }])).toEqual([port]);
    } finally {
      other.kill('SIGKILL');
    }
  });

  it('prefers a given port over the same one remembered for another', async () => {
    const [port = 0] = await freePorts([undefined]);
    const [first = 0, second = 0] = await choosePorts([
      { last: port, flag: 'a' },
      { given: port, flag: 'b' },
    ]);
    expect(second).toBe(port);
    expect(first).not.toBe(port);
  });

  it('gives as many different ports as asked for', async () => {
    const ports = await freePorts([undefined, undefined, undefined, undefined]);
    expect(new Set(ports).size).toBe(4);
    // Where no outgoing connection of anybody's can take one before the server listens.
    for (const port of ports) expect(port).toBeLessThan(32_768);
  });
});
