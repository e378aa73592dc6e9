import { hostNames } from './host-names.ts';
import { HostQueue } from './host-queue.ts';
import type { ModelProfile } from './model-profile.ts';
import type { Random } from './random.ts';

export interface Host {
  readonly name: string;
  readonly queue: HostQueue;
  /** What its compute stages are multiplied by: no two machines are quite alike. */
  readonly slowness: number;
}

/** The hosts that serve one model in one region; all its request types share them. */
export class HostPool {
  readonly hosts: readonly Host[];
  readonly slotsPerHost: number;

  /** @param busySlots mean number of slots in use over the whole pool, which sizes it. */
  constructor(model: ModelProfile, region: string, busySlots: number, random: Random) {
    const perHost = busySlots / (model.hostsPerRegion * model.targetUse);
    this.slotsPerHost = Math.max(1, Math.ceil(perHost));
    this.hosts = hostNames(model, region).map((name) => ({
      name,
      queue: new HostQueue(this.slotsPerHost),
      slowness: random.split(name).lognormal(1, 0.03),
    }));
  }
}
