import { createInterface } from 'node:readline';
import type { PeerTask } from './peer.ts';

/** The other end of child-peer.ts: does each task that comes on standard input. */
export async function serveTasks(
  ingest: (
    task: PeerTask & { readonly broker: string; readonly url: string },
  ) => Promise<string | undefined>,
): Promise<void> {
  const [broker = '', url = ''] = process.argv.slice(2);
  for await (const line of createInterface({ input: process.stdin })) {
    const [topic = '', group = '', database = '', events = ''] = line.split(' ');
    const note = await ingest({ broker, url, topic, group, database, events: Number(events) });
    process.stdout.write(note === undefined ? 'stored\n' : `stored ${note}\n`);
  }
}
