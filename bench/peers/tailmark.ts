import { existsSync } from 'node:fs';
import { resolve, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { startChildPeer } from './child-peer.ts';
import { type Peer, peerQuantiles } from './peer.ts';

/** This checkout. */
export const tailmark = tailmarkOf(
  new URL('../../', import.meta.url),
  'tailmark',
  'one ingest worker, all tables, exactly once',
);

/** Another checkout, with its own tables: built, as `npm run bench -- pipeline` does there. */
export function tailmarkBefore(checkout: string): Peer {
  const built = resolve(checkout, 'dist.bench');
  if (!existsSync(built)) throw new Error(`${built} must be there: run this bench in ${checkout}`);
  return tailmarkOf(pathToFileURL(built + sep), 'before', `tailmark of ${checkout}`);
}

/** Where a build has its migrations: older ones have them elsewhere. */
function migrationsOf(built: URL): URL {
  const now = new URL('src/sink/migrate/migrate.js', built);
  return existsSync(now) ? now : new URL('src/sink/migrate.js', built);
}

function tailmarkOf(built: URL, name: string, about: string): Peer {
  return {
    name,
    about,
    async start(stack) {
      const child = fileURLToPath(new URL('bench/peers/tailmark-child.js', built));
      const { migrate } = await import(migrationsOf(built).href);
      const { configSchema } = await import(new URL('src/config/schema.js', built).href);
      return {
        ...startChildPeer([process.execPath, child], stack),
        async prepare({ database }) {
          const clickhouse = { url: stack.clickhouse.url, database };
          await migrate(configSchema.parse({ clickhouse }).clickhouse);
        },
      };
    },
    sums: `SELECT stage, sum(requests) AS requests, sum(sum_ms) AS sum_ms,
    quantilesTDigestMerge(${peerQuantiles.join(', ')})(latency) AS quantiles
FROM latency_10s GROUP BY stage`,
  };
}
