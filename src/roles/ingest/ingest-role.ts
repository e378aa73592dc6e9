import { systemClock } from '../../base/clock.ts';
import { LedgerWatch } from '../../ingest/ledger-watch.ts';
import { startIngestThread } from '../../ingest/start-ingest-thread.ts';
import { startWorkers } from '../../workers/worker-pool.ts';
import type { RoleContext, RunningRole } from '../role.ts';

/** Starts the ingest role, in this thread or in several, and the checks of its ledger. */
export async function startIngest(context: RoleContext): Promise<RunningRole> {
  const { config, client, groupId, log, metrics } = context;
  const intervalMs = config.ingest.verify_interval;
  const ledger = new LedgerWatch({ client, groupId, intervalMs, clock: systemClock, log, metrics });
  ledger.start();
  try {
    const ingest = await startThreads(context);
    return {
      ...ingest,
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

async function startThreads(context: RoleContext): Promise<RunningRole> {
  const { config, profile } = context;
  if (config.ingest.workers === 1) return startIngestThread(config, context);
  const pool = await startWorkers(config, { clock: systemClock, profile });
  return { ...pool, threadMetrics: () => pool.metrics() };
}
