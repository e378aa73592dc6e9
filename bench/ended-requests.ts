import { setTimeout as sleep } from 'node:timers/promises';
import type { OutgoingMessage } from '../src/kafka/client/publisher.ts';
import {
  type DelayTraffic,
  delayPartitions,
  endMsOf,
  eventOf,
  type TimedRequest,
} from './delay-traffic.ts';

const TICK_MS = 20;

/** Publishes each event when its request has ended; those that ended in the past at once. */
export class EndedRequests {
  readonly #publish: (messages: readonly OutgoingMessage[]) => Promise<void>;
  readonly #traffic: DelayTraffic;
  #open: TimedRequest[];
  #isStopped = false;
  #sent = 0;
  /** When the first event of the fault was sent; NaN before. */
  firstHitMs = Number.NaN;

  constructor(
    publish: (messages: readonly OutgoingMessage[]) => Promise<void>,
    traffic: DelayTraffic,
    open: readonly TimedRequest[],
  ) {
    this.#publish = publish;
    this.#traffic = traffic;
    this.#open = [...open];
  }

  stop(): void {
    this.#isStopped = true;
  }

  async send(): Promise<void> {
    while (!this.#isStopped) {
      const nowMs = Date.now();
      this.#open.push(...this.#traffic.until(nowMs));
      const ended = this.#open.filter((request) => endMsOf(request) <= nowMs);
      this.#open = this.#open.filter((request) => endMsOf(request) > nowMs);
      ended.sort((a, b) => endMsOf(a) - endMsOf(b));
      if (Number.isNaN(this.firstHitMs) && ended.some(({ isHit }) => isHit)) {
        this.firstHitMs = nowMs;
      }
      const messages = ended.map((request) => {
        return { value: eventOf(request), partition: this.#sent++ % delayPartitions };
      });
      await this.#publish(messages);
      await sleep(TICK_MS);
    }
  }
}
