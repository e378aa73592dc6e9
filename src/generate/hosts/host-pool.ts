import type { ModelProfile } from '../model-profile.ts';
import type { Random } from '../random.ts';
import { hostNames } from './host-names.ts';
import { HostQueue } from './host-queue.ts';

export interface Host {
  readonly name: string;
  readonly queue: HostQueue;
  /** What its compute stages are multiplied by: no two machines are quite alike. */
  readonly slowness: number;
}

/**
 * The hosts that serve one model in one region; all its request types share them. Their slots follow the
 * arrivals, as an autoscaler by requests a second has it that is never late: what comes in bursts would else
 * wait for minutes, which is a fault. A fault scales nothing.
 */
export class HostPool {
  readonly hosts: readonly Host[];
  readonly #slotsPerBusy: number;
  /** Slots in use by what comes, by request type. */
  readonly #busySlots: number[];

  /** @param busySlots mean number of slots in use over the whole pool, by request type. */
  constructor(model: ModelProfile, region: string, busySlots: readonly number[], random: Random) {
    this.#slotsPerBusy = 1 / (model.hostsPerRegion * model.targetUse);
    this.#busySlots = [...busySlots];
    this.hosts = hostNames(model, region).map((name) => ({
      name,
      queue: new HostQueue(this.slotsPerHost),
      slowness: random.split(name).lognormal(1, 0.03),
    }));
  }

  get slotsPerHost(): number {
    const busy = this.#busySlots.reduce((sum, slots) => sum + slots, 0);
    return Math.max(1, Math.ceil(busy * this.#slotsPerBusy));
  }

  /** From now on so many slots are to be in use by requests of a type. */
  expect(type: number, busySlots: number, nowMs: number): void {
    this.#busySlots[type] = busySlots;
    const slots = this.slotsPerHost;
    for (const { queue } of this.hosts) queue.resize(slots, nowMs);
  }
}
