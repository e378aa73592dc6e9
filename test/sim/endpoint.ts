import type { Owner } from './scheduler.ts';
import type { KafkaNode } from './sim-kafka.ts';
import type { SimWorld } from './sim-world.ts';

/** Fate of a request that a process sends. */
export interface CallFate {
  readonly isLost: boolean;
  readonly isAnswerLost: boolean;
  readonly extraMs: number;
}

/** A connection of a process to a broker. */
export interface Connection {
  readonly node: KafkaNode;
  /** Fails all of its requests now. */
  fail(): void;
  /** Fails now if one of its requests will never get a response. */
  heal(): void;
}

const SHORTEST_STOP_MS = 7_000;

/** A process as the network sees it. */
export class Endpoint {
  readonly world: SimWorld;
  readonly owner: Owner;
  readonly connections = new Set<Connection>();
  /** Time until which it cannot reach Kafka. */
  cutOffUntilMs = 0;
  /** Kills the process now. */
  readonly die: () => void;
  /** Stops the process in order. */
  readonly #terminate: () => void;

  constructor(world: SimWorld, owner: Owner, die: () => void, terminate: () => void) {
    this.world = world;
    this.owner = owner;
    this.die = die;
    this.#terminate = terminate;
  }

  get isCutOff(): boolean {
    return this.world.scheduler.nowMs < this.cutOffUntilMs;
  }

  get isDead(): boolean {
    return this.owner.state === 'dead';
  }

  /** Draws the latency of one way through the network. */
  latencyMs(): number {
    return 0.2 + this.world.random.unit() * 3;
  }

  breakConnections(node: KafkaNode): void {
    for (const connection of [...this.connections]) {
      if (connection.node === node) connection.fail();
    }
  }

  /** Draws a stop or a pause of the process before a response reaches it. */
  drawStop(): void {
    const { owner } = this;
    const { faults, random, scheduler, trace } = this.world;
    if (faults.strikes('sigterm_at_call', 0.03)) scheduler.at(0, owner, this.#terminate);
    if (owner.state !== 'up' || !faults.strikes('stop_at_call', 0.03)) return;
    const ms = SHORTEST_STOP_MS + random.unit() * 50_000;
    owner.state = 'frozen';
    trace?.(owner.name, `stops for ${Math.round(ms)} ms before it hears the answer`);
    scheduler.at(ms, undefined, () => {
      if (this.owner.state === 'frozen') scheduler.thaw(owner);
    });
  }

  /** Draws the death of the process at the request, the effect or the response of a call. */
  drawDeath(): 'before' | 'after' | undefined {
    if (!this.world.faults.strikes('crash_at_call', 0.15)) return undefined;
    return this.world.random.chance(0.4) ? 'before' : 'after';
  }
}
