import { type Patchable, patchOnce } from './patch-once.ts';
import { RejoinError } from './rejoin-error.ts';

/** As much of kafkajs' `ConsumerGroup` as is needed; src/consumer/consumerGroup.js there. */
interface ConsumerGroup {
  joinAndSync(): Promise<void>;
  heartbeat(options: unknown): Promise<void>;
}

/**
 * Has a consumer whose join failed join again. kafkajs 2.2.4 then goes on fetching what it had been
 * given before (runner.js, `scheduleFetchManager`): a connection that closes during the join is
 * reason enough. Where it had given up its member id it sends no heartbeat either, so nothing ever
 * tells it that it is no member: it reads, and may not commit, until the process ends. Here the next
 * heartbeat that is due begins with the join.
 */
export function rejoinOnFailedJoin(group: Patchable<ConsumerGroup>): void {
  const failures = new WeakMap<ConsumerGroup, unknown>();
  patchOnce(group, 'rejoinOnFailedJoin', ['joinAndSync', 'heartbeat'], (before) => ({
    async joinAndSync(this: ConsumerGroup) {
      try {
        await before.joinAndSync.call(this);
        failures.delete(this);
      } catch (error) {
        failures.set(this, error);
        throw error;
      }
    },
    async heartbeat(this: ConsumerGroup, options: unknown) {
      if (failures.has(this)) throw new RejoinError(failures.get(this));
      await before.heartbeat.call(this, options);
    },
  }));
}
