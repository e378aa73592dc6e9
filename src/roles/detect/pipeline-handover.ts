import { z } from 'zod';
import type { DeliveredBefore } from '../../alert/outbox/delivery.ts';
import type { Outbox } from '../../alert/outbox/outbox.ts';
import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/failure.ts';
import type { Logger } from '../../base/telemetry/log.ts';
import { type AnomalyEvent, anomalyEventSchema } from '../../contract/anomaly-event.ts';
import type { Handover } from '../../kafka/leadership/leadership.ts';
import type { AnomalyStore } from '../../sink/anomalies/anomaly-store.ts';

export interface PipelineHandoverOptions {
  readonly handover: Handover;
  readonly store: Pick<AnomalyStore, 'stored' | 'add'>;
  readonly outbox: Pick<Outbox, 'add'>;
  readonly clock: Pick<Clock, 'sleep'>;
  readonly log: Logger;
}

/** Longest time that a page waits for its record in Kafka. */
const leaveMs = 2_000;
const events = z.array(anomalyEventSchema);

/** Pagers get the opening again under its key, which opens nothing; chat and mail may show it twice. */
const perhapsDelivered: DeliveredBefore = {
  settledRevision: 0,
  accepted: undefined,
  mayHaveArrived: true,
};

/**
 * Events of the pipeline that are handed on while ClickHouse cannot store them. They are left in Kafka before
 * anybody is notified, so that a successor stores them and delivers their end.
 */
export class PipelineHandover {
  readonly #options: PipelineHandoverOptions;
  /** Events left, in order. */
  #left: readonly AnomalyEvent[] = [];

  constructor(options: PipelineHandoverOptions) {
    this.#options = options;
  }

  /** Leaves events beside those from before. Where Kafka is away as well, they are handed on all the same. */
  async leave(added: readonly AnomalyEvent[]): Promise<void> {
    this.#left = [...this.#left, ...added];
    await this.#write(this.#left);
  }

  /** Called when all that was left is stored. */
  async clear(): Promise<void> {
    if (this.#left.length === 0) return;
    this.#left = [];
    await this.#write(undefined);
  }

  /**
   * Stores what a predecessor left, and hands it on.
   *
   * @param startMs start of the last window that was evaluated: no window caused these events.
   */
  async take(startMs: number): Promise<void> {
    const { handover, store, outbox, log } = this.#options;
    const value = await handover.read().catch((error: unknown) => {
      log.warn({ err: messageOf(error) }, 'events that a predecessor left cannot be read');
    });
    if (value === undefined) return;
    const { data: left = [] } = events.safeParse(value);
    for (const event of left) {
      if ((await store.stored(event.id, event.revision)) === undefined) {
        await store.add(event, Math.max(0, startMs));
        outbox.add(event, perhapsDelivered);
      }
    }
    this.#left = left;
    await this.clear();
  }

  async #write(value: readonly AnomalyEvent[] | undefined): Promise<void> {
    const { handover, clock, log } = this.#options;
    const late = clock.sleep(leaveMs).then(() => {
      throw new Error(`no answer within ${leaveMs} ms`);
    });
    await Promise.race([handover.leave(value), late]).catch((error: unknown) => {
      log.warn({ err: messageOf(error) }, 'events that cannot be stored yet are not left in Kafka');
    });
  }
}
