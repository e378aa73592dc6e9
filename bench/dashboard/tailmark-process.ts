import { type ChildProcess, spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

export const tailmarkBin = fileURLToPath(new URL('../../bin/tailmark.js', import.meta.url));

export interface TailmarkProcess {
  readonly pid: number;
  /** Address of the role `serve`. */
  readonly url: string;
  stop(): Promise<void>;
}

/** Runs roles as they ship; resolves when the process is ready. @param env settings by TAILMARK_… */
export async function startTailmark(
  roles: string,
  env: Readonly<Record<string, string>>,
): Promise<TailmarkProcess> {
  const port = await freePort();
  const child: ChildProcess = spawn(process.execPath, [tailmarkBin, 'run', '--roles', roles], {
    env: { ...process.env, ...env, TAILMARK_HTTP_LISTEN: `127.0.0.1:${port}` },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let log = '';
  let hasEnded = false;
  child.stderr?.on('data', (bytes: Buffer) => {
    log = `${log}${bytes}`.slice(-20_000);
  });
  const ended = new Promise<void>((resolve) =>
    child.once('close', () => {
      hasEnded = true;
      resolve();
    }),
  );
  const url = `http://127.0.0.1:${port}`;
  for (;;) {
    const isReady = await fetch(`${url}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isReady) break;
    if (hasEnded) throw new Error(`tailmark has ended: ${log}`);
    await sleep(50);
  }
  return {
    pid: child.pid as number,
    url,
    stop: async () => {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' ? (address?.port ?? 0) : 0));
    });
  });
}
