import { createClient } from '@clickhouse/client';
import type { LocalStack } from '../../src/local/stack/local-stack.ts';
import type { RunningPeer } from './peer.ts';

/** A peer that finds its table made. */
export function withTable(peer: RunningPeer, stack: LocalStack, table: string): RunningPeer {
  return {
    ...peer,
    async prepare(task) {
      const client = createClient({ url: stack.clickhouse.url, database: task.database });
      await client.command({ query: table });
      await client.close();
    },
  };
}
