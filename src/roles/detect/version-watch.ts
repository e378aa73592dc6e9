import type { Route } from '../../alert/routing/route.ts';
import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/failure.ts';
import type { Logger } from '../../base/telemetry/log.ts';
import { dayMs, minuteMs } from '../../base/time.ts';
import type { DeliveryStore } from '../../sink/anomalies/delivery-store.ts';
import type { ClickHouseClient } from '../../sink/client/clickhouse.ts';
import { readRows } from '../../sink/client/read-query.ts';

export interface VersionWatchOptions {
  readonly routes: readonly Route[];
  readonly client: ClickHouseClient;
  readonly store: Pick<DeliveryStore, 'add' | 'acceptedIds'>;
  readonly clock: Pick<Clock, 'nowMs' | 'every'>;
  readonly isLeading: () => boolean;
  readonly log: Logger;
}

const everyMs = minuteMs;
/** Age of a version from which it is no longer new. */
const newForMs = dayMs;
/** Age up to which a model's other versions are searched. */
const historyMs = 35 * dayMs;
const limit = 100;

/** Says to receivers of change events that a version of a model is seen for the first time, once each. */
export class VersionWatch {
  readonly #options: VersionWatchOptions;
  readonly #receivers: readonly Route[];
  #isLooking = false;
  #stop: () => void = () => undefined;

  constructor(options: VersionWatchOptions) {
    this.#options = options;
    this.#receivers = options.routes.filter(({ sendChange }) => sendChange !== undefined);
  }

  start(): void {
    if (this.#receivers.length === 0) return;
    this.#stop = this.#options.clock.every(everyMs, () => void this.#look());
  }

  stop(): void {
    this.#stop();
  }

  async #look(): Promise<void> {
    const { isLeading, log } = this.#options;
    if (this.#isLooking || !isLeading()) return;
    this.#isLooking = true;
    try {
      for (const route of this.#receivers) await this.#send(route);
    } catch (error) {
      log.warn({ err: messageOf(error) }, 'new versions could not be looked for');
    }
    this.#isLooking = false;
  }

  async #send({ receiver, sendChange }: Route): Promise<void> {
    const { client, store, clock, isLeading } = this.#options;
    const nowMs = clock.nowMs();
    const seconds = (ms: number) => Math.max(0, Math.floor(ms / 1000));
    const versions = await readRows<{ model: string; version: string; first_seconds: string }>(
      client,
      'new_versions',
      { fromSeconds: seconds(nowMs - historyMs), sinceSeconds: seconds(nowMs - newForMs), limit },
    );
    // Read each time: another process may have led meanwhile.
    const sent = await store.acceptedIds(receiver.name, 'version/');
    for (const { model, version, first_seconds } of versions) {
      const id = `version/${JSON.stringify([model, version])}`;
      if (sent.has(id) || !isLeading()) continue;
      const answer = await sendChange?.({
        model,
        version,
        firstSeenMs: Number(first_seconds) * 1000,
      });
      if (answer === undefined || answer.outcome !== 'accepted') continue;
      await store.add([
        {
          ...{ receiver: receiver.name, id, revision: 1, attempt: 1, outcome: 'accepted' },
          ...{ form: 'full', state: 'opened', severity: 'info', answer: answer.answer, memory: '' },
          ...{ mayHaveArrived: true, atMs: clock.nowMs() },
        },
      ]);
    }
  }
}
