import { systemClock } from '../../base/clock.ts';
import { LedgerWatch } from '../../ingest/ledger-watch.ts';
import { requireOwnGroup } from '../../ingest/require-own-group.ts';
import { startIngestThread } from '../../ingest/start-ingest-thread.ts';
import { SchemaWatch } from '../../sink/guard/schema-watch.ts';
import { TopicGroups } from '../../sink/guard/topic-groups.ts';
import { objectsOfSchema } from '../../sink/migrate/migrate.ts';
import { startWorkers } from '../../workers/worker-pool.ts';
import type { RoleContext, RunningRole } from '../role.ts';

/** Starts the ingest role, in this thread or in several, and the checks of its ledger and tables. */
export async function startIngest(context: RoleContext): Promise<RunningRole> {
  const { config, client, groupId, log, metrics } = context;
  const topics = config.source.type === 'kafka' ? config.kafka.topics : [];
  if (topics.length > 0) await requireOwnGroup(config, client);
  const isAllowed = config.ingest.allow_other_groups;
  const groups = new TopicGroups({ client, groupId, topics, isAllowed, log, metrics });
  const { database } = config.clickhouse;
  const schema = new SchemaWatch({
    ...{ client, database, objects: objectsOfSchema(), log, metrics },
  });
  const intervalMs = config.ingest.verify_interval;
  const ledger = new LedgerWatch({
    ...{ client, groupId, intervalMs, clock: systemClock, log, metrics },
    landingsMs: config.clickhouse.retention.chunk_landings,
    checkFirst: () => schema.observe(),
    alsoCheck: () => groups.observe(),
  });
  ledger.start();
  try {
    const ingest: RunningRole =
      config.ingest.workers === 1
        ? await startIngestThread(config, context)
        : await startWorkers(config, context.profile);
    return {
      ...ingest,
      problems: () => [...schema.problems(), ...ingest.problems(), ...groups.problems()],
      notes: () => [...(ingest.notes?.() ?? []), ...groups.notes()],
      stop: async () => {
        await ingest.stop();
        // After the drain, because a slow check must not delay it.
        await ledger.stop();
      },
    };
  } catch (error) {
    await ledger.stop();
    throw error;
  }
}
