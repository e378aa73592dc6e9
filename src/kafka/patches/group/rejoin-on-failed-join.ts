import { RejoinError } from '../../errors/broker-error.ts';
import { type Patchable, patchOnce } from '../patch-once.ts';

/** The used part of kafkajs' `ConsumerGroup` (src/consumer/consumerGroup.js). */
interface ConsumerGroup {
  joinAndSync(): Promise<void>;
  heartbeat(options: unknown): Promise<void>;
}

/**
 * Makes a consumer join again after a failed join. kafkajs 2.2.4 then continues to fetch its previous
 * assignment (runner.js, `scheduleFetchManager`). A connection that closes during the join is enough. If it
 * has dropped its member id, it sends no heartbeats either. It then reads without being able to commit until
 * the process ends. With this patch the next heartbeat starts a join.
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
