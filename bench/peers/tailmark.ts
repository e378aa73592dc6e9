import { fileURLToPath } from 'node:url';
import { configSchema } from '../../src/config/schema.ts';
import { migrate } from '../../src/sink/migrate.ts';
import { startChildPeer } from './child-peer.ts';
import { type Peer, peerQuantiles } from './peer.ts';

export const tailmark: Peer = {
  name: 'tailmark',
  about: 'one ingest worker, all tables, exactly once',
  async start(stack) {
    const child = fileURLToPath(new URL('./tailmark-child.js', import.meta.url));
    const running = startChildPeer([process.execPath, child], stack);
    return {
      ...running,
      async prepare(task) {
        const clickhouse = { url: stack.clickhouse.url, database: task.database };
        await migrate(configSchema.parse({ clickhouse }).clickhouse);
      },
    };
  },
  sums: `SELECT stage, sum(requests) AS requests, sum(sum_ms) AS sum_ms,
    quantilesTDigestMerge(${peerQuantiles.join(', ')})(latency) AS quantiles
FROM latency_10s GROUP BY stage`,
};
