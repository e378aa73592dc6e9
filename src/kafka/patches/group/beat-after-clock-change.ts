import { type Patchable, patchOnce } from '../patch-once.ts';

/** The used part of kafkajs' `ConsumerGroup` (src/consumer/consumerGroup.js). */
interface ConsumerGroup {
  /** Time of the last heartbeat, by the wall clock, in epoch ms. */
  lastRequest: number;
  heartbeat(options: unknown): Promise<void>;
}

/**
 * Makes a consumer send heartbeats after its machine's clock was set back. kafkajs 2.2.4 sends the next one
 * an interval after the last by the wall clock: none for as long as the clock was set back by. So the group
 * removes the member at each session timeout, and again after each rejoin.
 *
 * @param nowMs the wall clock that kafkajs uses, in epoch ms.
 */
export function beatAfterClockChange(
  group: Patchable<ConsumerGroup>,
  nowMs = () => Date.now(),
): void {
  patchOnce(group, 'beatAfterClockChange', ['heartbeat'], (before) => ({
    async heartbeat(this: ConsumerGroup, options: unknown) {
      if (nowMs() < this.lastRequest) this.lastRequest = 0;
      await before.heartbeat.call(this, options);
    },
  }));
}
