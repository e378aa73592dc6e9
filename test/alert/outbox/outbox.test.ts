import { describe, expect, it } from 'vitest';
import { Outbox } from '../../../src/alert/outbox/outbox.ts';
import type { Notice } from '../../../src/alert/receivers/receiver.ts';
import { createLog } from '../../../src/base/telemetry/log.ts';
import { createMetrics } from '../../../src/base/telemetry/metrics.ts';
import type { AnomalyEvent } from '../../../src/detect/event/anomaly-event.ts';
import { severities } from '../../../src/detect/event/severity.ts';
import type {
  DeliveryRow,
  OutboxState,
  Settled,
} from '../../../src/sink/anomalies/delivery-store.ts';
import type { Mute } from '../../../src/sink/anomalies/mute-store.ts';
import { anomalyFixture } from '../../detect/anomaly-fixture.ts';
import { FakeReceiver } from './fake-receiver.ts';
import { VirtualClock } from './virtual-clock.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** The tables `anomalies`, `deliveries`, `receivers` and `mutes`, which outlive a process. */
class Tables {
  readonly events: { event: AnomalyEvent; writtenMs: number }[] = [];
  readonly rows: (DeliveryRow & { atMs: number })[] = [];
  readonly since = new Map<string, number>();
  mutes: Mute[] = [];
  isAway = false;
  readonly #clock: VirtualClock;

  constructor(clock: VirtualClock) {
    this.#clock = clock;
  }

  async add(rows: readonly DeliveryRow[]): Promise<void> {
    if (this.isAway) throw new Error('ClickHouse is away');
    this.rows.push(...rows.map((row) => ({ ...row, atMs: this.#clock.nowMs() })));
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
    const rows = this.rows.filter(
      (row) => row.receiver === receiver && row.id === id && settling.includes(row.outcome),
    );
    const accepted = rows.filter(({ outcome }) => outcome === 'accepted');
    const end = accepted.at(-1);
    if (rows.length === 0) return [];
    const severity =
      severities.findLast((each) => accepted.some((row) => row.severity === each)) ?? 'info';
    return [
      {
        receiver,
        id,
        settledRevision: Math.max(...rows.map(({ revision }) => revision)),
        accepted: end && { state: end.state, severity, memory: end.memory, atMs: end.atMs },
      },
    ];
  }
}

const started: AnomalyEvent['started_at'] = '2026-11-01T12:00:00.000Z';

class World {
  readonly clock = new VirtualClock();
  readonly tables = new Tables(this.clock);
  readonly receivers: readonly FakeReceiver[];
  readonly metrics = createMetrics();
  isLeading = true;
  outbox: Outbox;

  constructor(receivers: readonly FakeReceiver[]) {
    this.receivers = receivers;
    this.outbox = this.#open();
  }

  static async started(...receivers: FakeReceiver[]): Promise<World> {
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

  rowsOf(receiver: string): string[] {
    return this.tables.rows
      .filter((row) => row.receiver === receiver)
      .map(({ id, revision, outcome, attempt }) => `${id}/${revision} ${outcome} ${attempt}`);
  }

  #open(): Outbox {
    const { clock, tables } = this;
    // A killed process sends nothing more, whoever leads by then.
    let isAlive = true;
    const kill = () => {
      isAlive = false;
    };
    this.#killLast();
    this.#killLast = kill;
    return new Outbox({
      routes: this.receivers.map((receiver) => ({
        receiver,
        name: receiver.name,
        unmet: ({ model }) => (model === 'nobody' ? 'nobody' : undefined),
        ignoresMutes: receiver.name === 'topic',
      })),
      store: tables,
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

const resolved = { state: 'resolved', resolved_at: '2026-11-01T12:20:00.000Z' } as const;
const away = () => ({ outcome: 'failed', answer: 'connection failed: ECONNREFUSED' }) as const;
const fine = () => ({ outcome: 'accepted', answer: '200' }) as const;

describe('what is retried', () => {
  it('delivers what is open within ten seconds of the return of a receiver that was away for half an hour', async () => {
    const pager = new FakeReceiver('pager', 'pager');
    const world = await World.started(pager);
    pager.answer = away;
    await world.emit({ id: 'a' });
    for (let i = 0; i < 20; i++) await world.emit({ id: `b${i}` });
    await world.clock.advance(30 * minuteMs);
    expect(pager.accepted).toEqual([]);
    pager.answer = fine;
    const backMs = world.clock.elapsedMs();
    while (pager.accepted.length < 21) await world.clock.advance(100);
    expect(world.clock.elapsedMs() - backMs).toBeLessThanOrEqual(11_000);
  });

  it('asks a dead receiver one anomaly at a time, and less and less', async () => {
    const pager = new FakeReceiver('pager', 'pager');
    const world = await World.started(pager);
    pager.answer = away;
    for (let i = 0; i < 100; i++) await world.emit({ id: `a${i}` });
    const during = async (ms: number) => {
      const before = pager.attempts.length;
      await world.clock.advance(ms);
      return pager.attempts.length - before;
    };
    expect(await during(minuteMs)).toBeLessThanOrEqual(60);
    await world.clock.advance(15 * hourMs);
    expect(await during(hourMs)).toBeLessThanOrEqual(13);
    // Each of them is tried, not only the first.
    expect(new Set(pager.attempts.map((each) => each.split('/')[0])).size).toBe(100);
  });

  it.each([1, 2, 5])(
    'does not let %i anomalies that always fail hold up the others',
    async (badCount) => {
      const pager = new FakeReceiver('pager', 'pager');
      const world = await World.started(pager);
      pager.answer = ({ event }) =>
        event.id.startsWith('bad')
          ? { outcome: 'failed', answer: '500' }
          : { outcome: 'accepted', answer: '' };
      for (let i = 0; i < badCount; i++) await world.emit({ id: `bad${i}` });
      let slowestMs = 0;
      for (let i = 0; i < 30; i++) {
        const beganMs = world.clock.elapsedMs();
        await world.emit({ id: `good${i}` });
        while (pager.accepted.length <= i) await world.clock.advance(100);
        // The first one finds a receiver of which nothing good is known.
        if (i > 0) slowestMs = Math.max(slowestMs, world.clock.elapsedMs() - beganMs);
        await world.clock.advance(20_000);
      }
      expect(pager.accepted).toHaveLength(30);
      expect(slowestMs).toBeLessThanOrEqual(1_500);
      // Not one a second, 600 in ten minutes.
      expect((pager.attempts.length - 30) / badCount).toBeLessThanOrEqual(40);
    },
  );

  it('obeys the wait that a receiver asks for, for all that is due there', async () => {
    const pager = new FakeReceiver('pager', 'pager');
    const world = await World.started(pager);
    pager.answer = () => ({ outcome: 'failed', answer: '429', retryAfterMs: 90_000 });
    await world.emit({ id: 'a' });
    pager.answer = fine;
    await world.emit({ id: 'b' });
    await world.clock.advance(89_000);
    expect(pager.accepted).toEqual([]);
    await world.clock.advance(2_000);
    expect(pager.accepted.sort()).toEqual(['a/1 opened', 'b/1 opened']);
  });

  it('asks every five minutes where the configuration is wrong', async () => {
    const pager = new FakeReceiver('pager', 'pager');
    const world = await World.started(pager);
    pager.answer = () => ({ outcome: 'rejected', answer: '401' });
    await world.emit({ id: 'a' });
    await world.clock.advance(hourMs);
    expect(pager.attempts).toHaveLength(13);
    expect(world.outbox.notes()).toEqual([
      'alert: pager has accepted nothing for 3600 s, 1 due: 401',
    ]);
    pager.answer = fine;
    await world.clock.advance(5 * minuteMs);
    expect(pager.accepted).toEqual(['a/1 opened']);
    expect(world.outbox.notes()).toEqual([]);
  });

  it('tries the minimal form where the content is refused, and then gives up', async () => {
    const pager = new FakeReceiver('pager', 'pager');
    const world = await World.started(pager);
    pager.answer = ({ event }, form) =>
      form === 'minimal' && event.id === 'long'
        ? { outcome: 'accepted', answer: '202' }
        : { outcome: 'unacceptable', answer: '413' };
    await world.emit({ id: 'long' });
    await world.emit({ id: 'odd' });
    await world.clock.advance(minuteMs);
    expect(pager.attempts).toEqual([
      'long/1 opened unacceptable',
      'long/1 opened accepted minimal',
      'odd/1 opened unacceptable',
      'odd/1 opened unacceptable minimal',
    ]);
    expect(world.rowsOf('pager')).toEqual([
      'long/1 unacceptable 1',
      'long/1 accepted 2',
      'odd/1 unacceptable 1',
      'odd/1 unacceptable 2',
      'odd/1 refused 2',
    ]);
  });

  it('gives up after a day, also where a process began later', async () => {
    const hook = new FakeReceiver('hook', 'revisions');
    const world = await World.started(hook);
    hook.answer = away;
    await world.emit({ id: 'a' });
    await world.clock.advance(12 * hourMs);
    await world.restart();
    await world.clock.advance(11 * hourMs);
    expect(world.rowsOf('hook').filter((row) => row.includes('expired'))).toEqual([]);
    await world.clock.advance(hourMs + 10 * minuteMs);
    expect(world.rowsOf('hook').filter((row) => row.includes('expired'))).toEqual([
      'a/1 expired 0',
    ]);
    hook.answer = fine;
    await world.emit({ id: 'a', revision: 2, ...resolved });
    await world.clock.advance(10 * minuteMs);
    expect(hook.accepted).toEqual(['a/2 resolved']);
  });

  it('tries once what became older than a day while no process ran', async () => {
    const pager = new FakeReceiver('pager', 'pager');
    const world = await World.started(pager);
    pager.answer = away;
    await world.emit({ id: 'a' });
    pager.answer = fine;
    await world.restart(30 * hourMs);
    expect(pager.accepted).toEqual(['a/1 opened']);
  });

  it('goes on though the clock jumps by an hour', async () => {
    const pager = new FakeReceiver('pager', 'renewed');
    const world = await World.started(pager);
    pager.answer = away;
    await world.emit({ id: 'a' });
    await world.clock.advance(10_000);
    world.clock.jump(-hourMs);
    pager.answer = fine;
    await world.clock.advance(3_000);
    expect(pager.accepted).toEqual(['a/1 opened']);
    world.clock.jump(2 * hourMs);
    await world.clock.advance(5 * minuteMs);
    expect(pager.accepted).toHaveLength(6);
  });
});

describe('what a receiver gets', () => {
  it('is the opening, a rise and the end for a pager, and each once', async () => {
    const pager = new FakeReceiver('pager', 'pager');
    const seen: Notice[] = [];
    pager.answer = (notice) => {
      seen.push(notice);
      return fine();
    };
    const world = await World.started(pager);
    await world.emit({ id: 'a', severity: 'warning' });
    await world.emit({ id: 'a', revision: 2, state: 'updated', severity: 'warning' });
    await world.emit({ id: 'a', revision: 3, state: 'updated', severity: 'critical' });
    await world.emit({ id: 'a', revision: 4, state: 'updated', severity: 'critical' });
    await world.emit({ id: 'a', revision: 5, severity: 'critical', ...resolved });
    await world.clock.advance(hourMs);
    expect(pager.accepted).toEqual(['a/1 opened', 'a/3 risen', 'a/5 resolved']);
    expect(seen.map((notice) => notice.severities)).toEqual(
      [
        ['warning', 'critical'],
        ['warning', 'critical'],
        ['warning', 'critical'],
      ].map((list, i) => (i === 0 ? list.slice(0, 1) : list)),
    );
  });

  it('is the newest state alone after an outage; what is over wakes nobody, and is one message in a chat', async () => {
    const pager = new FakeReceiver('pager', 'pager');
    const chat = new FakeReceiver('chat', 'chat');
    const hook = new FakeReceiver('hook', 'revisions');
    const world = await World.started(pager, chat, hook);
    for (const receiver of [pager, chat, hook]) receiver.answer = away;
    await world.emit({ id: 'over', severity: 'warning' });
    await world.emit({ id: 'open', severity: 'warning' });
    await world.emit({ id: 'over', revision: 2, ...resolved });
    await world.emit({ id: 'open', revision: 2, state: 'updated' });
    await world.clock.advance(30 * minuteMs);
    for (const receiver of [pager, chat, hook]) receiver.answer = fine;
    await world.clock.advance(minuteMs);
    expect(pager.accepted).toEqual(['open/2 opened']);
    expect(chat.accepted.sort()).toEqual(['open/2 opened', 'over/2 past']);
    expect(hook.accepted.filter((each) => each.startsWith('over'))).toEqual([
      'over/1 opened',
      'over/2 resolved',
    ]);
    expect(world.rowsOf('pager').at(-1)).toMatch(/^(over\/2 skipped 0|open\/2 accepted \d+)$/);
    expect(world.rowsOf('pager').filter((row) => row.includes('skipped'))).toEqual([
      'over/2 skipped 0',
    ]);
  });

  it('is nothing of what it does not match, until it does', async () => {
    const pager = new FakeReceiver('pager', 'pager');
    const world = await World.started(pager);
    await world.emit({ id: 'a', model: 'nobody' });
    await world.emit({ id: 'b', model: 'nobody' });
    await world.emit({ id: 'a', revision: 2, state: 'updated', model: 'ranker' });
    await world.emit({ id: 'a', revision: 3, model: 'nobody', ...resolved });
    await world.emit({ id: 'b', revision: 2, model: 'nobody', ...resolved });
    await world.clock.advance(minuteMs);
    expect(pager.accepted).toEqual(['a/2 opened', 'a/3 resolved']);
  });

  it('is repeated each minute where it must be, and for a quarter of an hour after the end', async () => {
    const manager = new FakeReceiver('am', 'renewed');
    const world = await World.started(manager);
    await world.emit({ id: 'a' });
    await world.clock.advance(10 * minuteMs - 1_000);
    expect(manager.accepted).toHaveLength(10);
    await world.emit({ id: 'a', revision: 2, ...resolved });
    await world.clock.advance(hourMs);
    expect(manager.accepted.slice(10)).toHaveLength(16);
    // Renewals are no rows: a day of them says nothing new.
    expect(world.rowsOf('am')).toEqual(['a/1 accepted 1', 'a/2 accepted 1']);
  });

  it('is repeated by a successor at once, unless its end is long ago', async () => {
    const manager = new FakeReceiver('am', 'renewed');
    const world = await World.started(manager);
    await world.emit({ id: 'open' });
    await world.emit({ id: 'past' });
    await world.emit({ id: 'past', revision: 2, ...resolved });
    await world.clock.advance(21 * minuteMs);
    await world.emit({ id: 'recent' });
    await world.emit({ id: 'recent', revision: 2, ...resolved });
    manager.accepted.length = 0;
    await world.restart(10_000);
    expect(manager.accepted.sort()).toEqual(['open/1 updated', 'recent/2 resolved']);
  });

  it('is the end of one anomaly before the next of the same key', async () => {
    const pager = new FakeReceiver('pager', 'pager');
    const manager = new FakeReceiver('am', 'renewed');
    const world = await World.started(pager, manager);
    await world.emit({ id: 'a1', dedup_key: 'k' });
    pager.answer = away;
    await world.emit({ id: 'a1', dedup_key: 'k', revision: 2, ...resolved });
    await world.emit({ id: 'a2', dedup_key: 'k' });
    await world.clock.advance(minuteMs);
    pager.answer = fine;
    await world.clock.advance(minuteMs);
    expect(pager.accepted).toEqual(['a1/1 opened', 'a1/2 resolved', 'a2/1 opened']);
    // The end of the first is not repeated beside the second, which has its labels.
    const afterSecond = manager.accepted.slice(manager.accepted.indexOf('a2/1 opened'));
    expect(afterSecond.filter((each) => each.startsWith('a1'))).toEqual([]);
  });
});

describe('a restart', () => {
  it('delivers what its predecessor did not, and nothing twice', async () => {
    const pager = new FakeReceiver('pager', 'pager');
    const hook = new FakeReceiver('hook', 'revisions');
    const world = await World.started(pager, hook);
    await world.emit({ id: 'a', severity: 'warning' });
    hook.answer = away;
    pager.answer = away;
    await world.emit({ id: 'a', revision: 2, state: 'updated' });
    await world.emit({ id: 'b' });
    hook.answer = fine;
    pager.answer = fine;
    await world.restart(minuteMs);
    expect(pager.accepted).toEqual(['a/1 opened', 'a/2 risen', 'b/1 opened']);
    expect(hook.accepted).toEqual(['a/1 opened', 'a/2 updated', 'b/1 opened']);
    await world.restart();
    expect(pager.accepted).toHaveLength(3);
    expect(hook.accepted).toHaveLength(3);
  });

  it('remembers what a receiver asked for', async () => {
    const chat = new FakeReceiver('chat', 'chat');
    chat.answer = () => ({ outcome: 'accepted', answer: 'ok', memory: '{"ts":"17.1"}' });
    const world = await World.started(chat);
    await world.emit({ id: 'a' });
    await world.restart();
    const memories: string[] = [];
    chat.answer = ({ memory }) => {
      memories.push(memory);
      return fine();
    };
    await world.emit({ id: 'a', revision: 2, ...resolved });
    expect(memories).toEqual(['{"ts":"17.1"}']);
  });

  it('gives a new receiver what is open, and nothing of what was before', async () => {
    const pager = new FakeReceiver('pager', 'pager');
    const world = await World.started(pager);
    await world.emit({ id: 'over' });
    await world.emit({ id: 'over', revision: 2, ...resolved });
    await world.emit({ id: 'open' });
    await world.clock.advance(40 * hourMs);
    const chat = new FakeReceiver('chat', 'chat');
    const hook = new FakeReceiver('hook', 'revisions');
    (world.receivers as FakeReceiver[]).push(chat, hook);
    await world.restart();
    expect(chat.accepted).toEqual(['open/1 opened']);
    await world.emit({ id: 'open', revision: 2, ...resolved });
    expect(chat.accepted).toEqual(['open/1 opened', 'open/2 resolved']);
    expect(hook.accepted).toEqual(['open/2 resolved']);
  });

  it('does not deliver twice what could not be recorded while ClickHouse was away for a while', async () => {
    const pager = new FakeReceiver('pager', 'pager');
    const world = await World.started(pager);
    world.tables.isAway = true;
    await world.emit({ id: 'a' });
    await world.emit({ id: 'b' });
    expect(pager.accepted).toEqual(['a/1 opened', 'b/1 opened']);
    await world.clock.advance(minuteMs);
    world.tables.isAway = false;
    await world.clock.advance(2_000);
    await world.restart();
    expect(pager.accepted).toHaveLength(2);
  });

  it('sends nothing once another process leads', async () => {
    const pager = new FakeReceiver('pager', 'pager');
    const world = await World.started(pager);
    world.isLeading = false;
    await world.emit({ id: 'a' });
    await world.clock.advance(minuteMs);
    expect(pager.attempts).toEqual([]);
  });
});

describe('a mute', () => {
  const mute = (world: World, changed: Partial<Mute> = {}): Mute => ({
    id: 'm',
    fromMs: world.clock.nowMs(),
    untilMs: world.clock.nowMs() + hourMs,
    models: ['ranker'],
    kinds: [],
    dimensions: {},
    why: 'load test',
    who: 'ann',
    ...changed,
  });
  const trio = () =>
    [
      new FakeReceiver('pager', 'pager'),
      new FakeReceiver('hook', 'revisions'),
      new FakeReceiver('topic', 'revisions'),
    ] as const;

  it('holds all back but the topic, and delivers what is still open when it ends', async () => {
    const [pager, hook, topic] = trio();
    const world = await World.started(pager, hook, topic);
    world.tables.mutes = [mute(world)];
    await world.clock.advance(5_000);
    await world.emit({ id: 'long' });
    await world.emit({ id: 'short' });
    await world.emit({ id: 'other', model: 'other' });
    await world.emit({ id: 'short', revision: 2, ...resolved });
    expect(pager.accepted).toEqual(['other/1 opened']);
    expect(hook.accepted).toEqual(['other/1 opened']);
    expect(topic.accepted).toHaveLength(4);
    await world.clock.advance(30 * hourMs);
    expect(pager.accepted).toEqual(['other/1 opened', 'long/1 opened']);
    expect(hook.accepted).toEqual(['other/1 opened', 'long/1 opened']);
    expect(world.rowsOf('pager').filter((row) => row.includes('skipped'))).toEqual([
      'short/2 skipped 0',
    ]);
  });

  it('lets the end of what was delivered before pass', async () => {
    const [pager, hook, topic] = trio();
    const world = await World.started(pager, hook, topic);
    await world.emit({ id: 'a', severity: 'warning' });
    world.tables.mutes = [mute(world)];
    await world.clock.advance(5_000);
    await world.emit({ id: 'a', revision: 2, state: 'updated' });
    await world.emit({ id: 'a', revision: 3, ...resolved });
    expect(pager.accepted).toEqual(['a/1 opened', 'a/3 resolved']);
    expect(hook.accepted).toEqual(['a/1 opened', 'a/3 resolved']);
    expect(topic.accepted).toEqual(['a/1 opened', 'a/2 updated', 'a/3 resolved']);
  });
});

describe('many anomalies, bad receivers and kills, by seed', () => {
  it.each(Array.from({ length: 12 }, (_, i) => i + 1))(
    'lose nothing and keep the order of each key (seed %i)',
    async (seed) => {
      await runStorm(seed);
    },
  );
});

/** Emits anomalies while receivers fail at random and the process is killed; then all is repaired. */
async function runStorm(seed: number): Promise<void> {
  let state = seed * 2_654_435_761;
  const random = () => {
    state = (state * 1_664_525 + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  const hook = new FakeReceiver('hook', 'revisions');
  const pager = new FakeReceiver('pager', 'pager');
  const world = await World.started(hook, pager);
  const outcomes = ['failed', 'rejected', 'accepted', 'accepted'] as const;
  for (const receiver of [hook, pager]) {
    receiver.answer = () => {
      const outcome = outcomes[Math.floor(random() * outcomes.length)] ?? 'accepted';
      return { outcome, answer: outcome };
    };
  }
  const ids = Array.from({ length: 25 }, (_, i) => `a${i}`);
  const last = new Map<string, number>();
  for (let step = 0; step < 120; step++) {
    const id = ids[Math.floor(random() * ids.length)] ?? '';
    const revision = (last.get(id) ?? 0) + 1;
    if (revision <= 4) {
      last.set(id, revision);
      const state = revision === 1 ? 'opened' : revision === 4 ? 'resolved' : 'updated';
      const severity = revision < 3 ? 'warning' : 'critical';
      const end = state === 'resolved' ? resolved : {};
      await world.emit({ id, revision, state, severity, ...end });
    }
    await world.clock.advance(random() * 20_000);
    if (random() < 0.08) await world.restart(random() * 5_000);
  }
  for (const receiver of [hook, pager]) receiver.answer = fine;
  await world.clock.advance(hourMs);
  const revisions = (id: string) =>
    hook.accepted
      .filter((each) => each.startsWith(`${id}/`))
      .map((each) => Number(each.split(/[/ ]/)[1]));
  for (const [id, revision] of last) {
    expect(revisions(id)).toEqual(Array.from({ length: revision }, (_, i) => i + 1));
    const pages = pager.accepted.filter((each) => each.startsWith(`${id}/`));
    const changes = pages.map((each) => each.split(' ')[1]);
    expect(changes.join(' ')).toMatch(/^(opened( risen)?( resolved)?)?$/);
    if (revision < 4) expect(changes[0]).toBe('opened');
    if (changes.length > 0 && revision === 4) expect(changes.at(-1)).toBe('resolved');
  }
}
