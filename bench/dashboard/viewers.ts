import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** A page's refresh. */
const pollMs = 5_000;

/**
 * Asks the questions of a page like so many open tabs, each every five seconds with the tags that it has, until
 * the signal. Returns the number of answers by status.
 *
 * @throws on any other status than 200 and 304.
 */
export async function runViewers(
  of: { readonly url: string; readonly questions: readonly string[]; readonly viewers: number },
  signal: AbortSignal,
): Promise<ReadonlyMap<number, number>> {
  const answers = new Map<number, number>();
  const view = async (n: number) => {
    const tags = new Map<string, string>();
    await sleep((n * pollMs) / of.viewers);
    while (!signal.aborted) {
      const begunMs = performance.now();
      for (const question of of.questions) {
        const tag = tags.get(question);
        const headers: Record<string, string> = tag === undefined ? {} : { 'if-none-match': tag };
        const response = await fetch(of.url + question, { headers });
        await response.arrayBuffer();
        if (![200, 304].includes(response.status))
          throw new Error(`${response.status} ${question}`);
        answers.set(response.status, (answers.get(response.status) ?? 0) + 1);
        tags.set(question, response.headers.get('etag') ?? '');
      }
      await sleep(Math.max(0, pollMs - (performance.now() - begunMs)));
    }
  };
  await Promise.all(Array.from({ length: of.viewers }, (_, n) => view(n)));
  return answers;
}

/** A server that answers 304 to everything. */
export async function startIdleServer(): Promise<{ readonly url: string; close(): void }> {
  const server = createServer((_, response) => response.writeHead(304).end());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
