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
    const ingest: RunningRole =
      config.ingest.workers === 1
        ? await startIngestThread(config, context)
        : await startWorkers(config, context.profile);
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
