import type { Owner } from './scheduler.ts';
import type { KafkaNode } from './sim-kafka.ts';
import type { SimWorld } from './sim-world.ts';

/** What becomes of a request that a process sends. */
export interface CallFate {
  readonly isLost: boolean;
  readonly isAnswerLost: boolean;
  readonly extraMs: number;
}

/** A connection of a process to a broker. */
export interface Connection {
  readonly node: KafkaNode;
  /** Everything asked over it fails now. */
  fail(): void;
  /** Fails now if something asked over it will never be answered. */
  heal(): void;
}

const SHORTEST_STOP_MS = 7_000;

/** A process as the network sees it. */
export class Endpoint {
  readonly world: SimWorld;
  readonly owner: Owner;
  readonly connections = new Set<Connection>();
  /** Until when it cannot reach Kafka. */
  cutOffUntilMs = 0;
  /** The process dies at this moment. */
  readonly die: () => void;
  /** The process is told to end. */
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

  /** One way through the network. */
  latencyMs(): number {
    return 0.2 + this.world.random.unit() * 3;
  }

  breakConnections(node: KafkaNode): void {
    for (const connection of [...this.connections]) {
      if (connection.node === node) connection.fail();
    }
  }

  /** Something has been answered: before it hears of it the process may be told to end, or stop. */
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

  /** At its request, its effect or its answer a call may be the last thing that a process does. */
  drawDeath(): 'before' | 'after' | undefined {
    if (!this.world.faults.strikes('crash_at_call', 0.15)) return undefined;
    return this.world.random.chance(0.4) ? 'before' : 'after';
  }
}
