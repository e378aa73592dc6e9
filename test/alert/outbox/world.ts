import { Outbox } from '../../../src/alert/outbox/outbox.ts';
import { ReceiverWatch } from '../../../src/alert/outbox/receiver-watch.ts';
import type { Receiver } from '../../../src/alert/receiver.ts';
import type { Clock } from '../../../src/base/clock.ts';
import { createLog } from '../../../src/base/telemetry/log.ts';
import { createMetrics } from '../../../src/base/telemetry/metrics.ts';
import { hourMs } from '../../../src/base/time.ts';
import { type AnomalyEvent, severities } from '../../../src/contract/anomaly-event.ts';
import type {
  DeliveryRow,
  OutboxState,
  Settled,
} from '../../../src/sink/anomalies/delivery-store.ts';
import type { Mute } from '../../../src/sink/anomalies/mute-store.ts';
import { anomalyFixture } from '../../contract/anomaly-fixture.ts';
import { VirtualClock } from './virtual-clock.ts';

/** The tables `anomalies`, `deliveries`, `receivers` and `mutes`, which outlive a process. */
class Tables {
  readonly events: { event: AnomalyEvent; writtenMs: number }[] = [];
  readonly rows: DeliveryRow[] = [];
  readonly since = new Map<string, number>();
  mutes: Mute[] = [];
  isAway = false;
  readonly #clock: VirtualClock;

  constructor(clock: VirtualClock) {
    this.#clock = clock;
  }

  async add(rows: readonly DeliveryRow[]): Promise<void> {
    if (this.isAway) throw new Error('ClickHouse is away');
    this.rows.push(...rows);
  }

  async load(names: readonly string[], sinceMs: number): Promise<OutboxState> {
    for (const name of names) {
      if (!this.since.has(name)) this.since.set(name, this.#clock.nowMs());
    }
    const last = new Map(this.events.map((each) => [each.event.id, each]));
    const events = this.events.filter(({ event }) => {
      const end = last.get(event.id);
      return end?.event.state !== 'resolved' || end.writtenMs >= sinceMs;
    });
    const settled: Settled[] = names.flatMap((receiver) =>
      [...last.keys()].flatMap((id) => this.#settled(receiver, id)),
    );
    return { events, settled, sinceMs: this.since };
  }

  #settled(receiver: string, id: string): Settled[] {
    const settling = ['accepted', 'refused', 'expired', 'skipped'];
    const all = this.rows.filter((row) => row.receiver === receiver && row.id === id);
    const last = all.at(-1);
    const rows = all.filter(({ outcome }) => settling.includes(outcome));
    const accepted = rows.filter(({ outcome }) => outcome === 'accepted');
    const end = accepted.at(-1);
    const lastExpired = rows.findLast(({ outcome }) => outcome === 'expired');
    const isRestOver =
      end !== undefined && lastExpired?.revision === end.revision && lastExpired.atMs > end.atMs;
    if (last === undefined) return [];
    const severity =
      severities.findLast((each) => accepted.some((row) => row.severity === each)) ?? 'info';
    return [
      {
        receiver,
        id,
        settledRevision: Math.max(0, ...rows.map(({ revision }) => revision)),
        mayHaveArrived: last.mayHaveArrived,
        accepted: end && {
          state: end.state,
          severity,
          memory: isRestOver ? '' : end.memory,
          atMs: end.atMs,
        },
      },
    ];
  }
}

const started: AnomalyEvent['started_at'] = '2026-11-01T12:00:00.000Z';

/** A process' own view of the clock, whose timers end with it. */
class ProcessClock implements Clock {
  readonly #clock: Clock;
  readonly #stops: (() => void)[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  nowMs = () => this.#clock.nowMs();
  elapsedMs = () => this.#clock.elapsedMs();
  sleep = (ms: number) => this.#clock.sleep(ms);
  yieldToEventLoop = () => this.#clock.yieldToEventLoop();

  every(ms: number, action: () => void): () => void {
    const stop = this.#clock.every(ms, action);
    this.#stops.push(stop);
    return stop;
  }

  stop(): void {
    for (const stop of this.#stops) stop();
  }
}

/** A process that delivers, and its successors, on one clock. */
export class World {
  readonly clock = new VirtualClock();
  readonly tables = new Tables(this.clock);
  readonly receivers: readonly Receiver[];
  readonly metrics = createMetrics();
  isLeading = true;
  outbox: Outbox;

  constructor(receivers: readonly Receiver[]) {
    this.receivers = receivers;
    this.outbox = this.#open();
  }

  static async started(...receivers: Receiver[]): Promise<World> {
    const world = new World(receivers);
    await world.outbox.start();
    return world;
  }

  /** Kills the process, and starts another one. */
  async restart(downMs = 0): Promise<void> {
    this.isLeading = false;
    await this.clock.advance(downMs);
    this.isLeading = true;
    this.outbox = this.#open();
    await this.outbox.start();
    await this.clock.advance(0);
  }

  /** Stores an event and hands it on, as the detector does. */
  async emit(changed: Partial<AnomalyEvent>): Promise<AnomalyEvent> {
    const event = anomalyFixture({ started_at: started, dedup_key: changed.id ?? '', ...changed });
    this.tables.events.push({ event, writtenMs: this.clock.nowMs() });
    this.outbox.add(event);
    await this.clock.advance(0);
    return event;
  }

  /** Outcomes at a receiver; rows from before an attempt are left out. */
  rowsOf(receiver: string): string[] {
    return this.tables.rows
      .filter((row) => row.receiver === receiver && row.outcome !== 'begun')
      .map(({ id, revision, outcome, attempt }) => `${id}/${revision} ${outcome} ${attempt}`);
  }

  #open(): Outbox {
    const { tables } = this;
    // A killed process sends nothing more, whoever leads by then, and has no timers.
    let isAlive = true;
    const clock = new ProcessClock(this.clock);
    const kill = () => {
      isAlive = false;
      clock.stop();
    };
    this.#killLast();
    this.#killLast = kill;

    return new Outbox({
      watch: new ReceiverWatch({
        receivers: this.receivers.map(({ name }) => name),
        store: { outages: async () => new Map(), givenUp: async () => [] },
        nowMs: () => clock.nowMs(),
      }),
      routes: this.receivers.map((receiver) => ({
        receiver,
        name: receiver.name,
        unmet: ({ model }) => (model === 'nobody' ? 'nobody' : undefined),
        ignoresMutes: receiver.name === 'topic',
      })),
      store: {
        load: (names, sinceMs) => tables.load(names, sinceMs),
        add: async (rows) => {
          if (!isAlive) throw new Error('the process was killed');
          await tables.add(rows);
        },
      },
      readMutes: async () => tables.mutes,
      giveUpAfterMs: 24 * hourMs,
      clock,
      random: () => 0.999,
      isLeading: () => isAlive && this.isLeading,
      log: createLog({ level: 'silent' }),
      metrics: this.metrics,
    });
  }

  #killLast: () => void = () => undefined;
}

/** Fields of an event that ends its anomaly. */
export const resolved = { state: 'resolved', resolved_at: '2026-11-01T12:20:00.000Z' } as const;
export const away = () =>
  ({ outcome: 'failed', answer: 'connection failed: ECONNREFUSED' }) as const;
export const fine = () => ({ outcome: 'accepted', answer: '200' }) as const;
