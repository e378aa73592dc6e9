import { type Agent, get } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

/** What became of the questions of a phase. */
export interface Asked {
  readonly tookMs: number[];
  readonly byStatus: Map<number, number>;
}
export const nothing = (): Asked => ({ tookMs: [], byStatus: new Map() });

/** Asks from an address of its own; 0 stands for the status of a request that was given up. */
export async function ask(
  url: string,
  address: number,
  agent: Agent,
  { tookMs, byStatus }: Asked,
  signal?: AbortSignal,
): Promise<void> {
  const begunMs = performance.now();
  const status = await new Promise<number>((resolve) => {
    const localAddress = `127.0.1.${address}`;
    get(url, { agent, localAddress, ...(signal && { signal }) }, (response) => {
      response.on('error', () => resolve(0));
      response.resume().on('end', () => resolve(response.statusCode ?? 0));
    }).on('error', () => resolve(0));
  });
  tookMs.push(performance.now() - begunMs);
  byStatus.set(status, (byStatus.get(status) ?? 0) + 1);
  // A client that is refused at once does not ask without a pause.
  if (status !== 200) await sleep(100);
}

export function statuses({ byStatus }: Asked): string {
  const counts = [...byStatus].toSorted(([a], [b]) => a - b);
  return counts.map(([status, count]) => `${count} × ${status}`).join(', ');
}
