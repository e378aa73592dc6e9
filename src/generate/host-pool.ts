import { HostQueue } from './host-queue.ts';
import type { ModelProfile } from './model-profile.ts';
import type { Random } from './random.ts';

export interface Host {
  readonly name: string;
  readonly queue: HostQueue;
  /** Factor of its compute stages: machines differ. */
  readonly slowness: number;
}

/**
 * Holds the hosts that serve one model in one region; all its request types share them. The number of slots
 * follows the arrivals without delay, like an ideal autoscaler. With a late one, bursts would wait for
 * minutes, which is a fault. Faults do not scale the hosts.
 */
export class HostPool {
  readonly hosts: readonly Host[];
  readonly #slotsPerBusy: number;
  /** Slots in use by arrivals, by request type. */
  readonly #busySlots: number[];

  /** @param busySlots mean number of slots in use over the whole pool, by request type */
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

  /** Sets the mean number of slots in use by requests of a type from now on. */
  expect(type: number, busySlots: number, nowMs: number): void {
    this.#busySlots[type] = busySlots;
    const slots = this.slotsPerHost;
    for (const { queue } of this.hosts) queue.resize(slots, nowMs);
  }
}

/** Lists the hosts of a model in one region, in a fixed order. */
export function hostNames(model: ModelProfile, region: string): readonly string[] {
  return Array.from({ length: model.hostsPerRegion }, (_, n) => `${model.name}-${region}-${n}`);
}
