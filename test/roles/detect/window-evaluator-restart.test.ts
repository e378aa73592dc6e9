import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createLog } from '../../../src/base/telemetry/log.ts';
import { createMetrics } from '../../../src/base/telemetry/metrics.ts';
import { type Config, configSchema } from '../../../src/config/schema.ts';
import type { AnomalyEvent } from '../../../src/contract/anomaly-event.ts';
import { LeadershipLost } from '../../../src/roles/detect/leadership-lost.ts';
import { WindowEvaluator } from '../../../src/roles/detect/window-evaluator.ts';
import { scenarioSchema } from '../../scenarios/scenario-schema.ts';
import { scenarioStartMs, scenarioWindows } from '../../scenarios/scenario-windows.ts';
import { FakeTables, Killed } from './fake-tables.ts';
import { keptOutbox } from './kept-outbox.ts';

const windowMs = 10_000;
const count = 190;
const configOf = (detect: object = {}) =>
  configSchema.parse({
    detect: { baseline: '10m', save_interval: '5m', resolve_windows: 3, ...detect },
    windows: { grace: '2s' },
  });
const config = configOf();
/** A series that pages twice, and whose first anomaly grows meanwhile. */
const windows = scenarioWindows(
  scenarioSchema.parse({
    title: '',
    seed: 5,
    windows: count,
    series: [{ model: 'a', requests: 300, stages: { forward: { median_ms: 50, sigma: 0.3 } } }],
    faults: [
      { series: 0, windows: [80, 124], stage: 'forward', factor: 4, share: 0.5 },
      { series: 0, windows: [113, 124], stage: 'forward', factor: 9, share: 0.9 },
      { series: 0, windows: [168, 178], stage: 'forward', factor: 4, share: 0.5 },
    ],
    expect: [],
  }),
  windowMs,
).flat();

/** One process: the events that it delivers, and its lead. */
class Member {
  readonly delivered: AnomalyEvent[] = [];
  readonly logged: string[] = [];
  isLeading = true;
  readonly evaluator: WindowEvaluator;
  readonly #tables: FakeTables;

  constructor(tables: FakeTables, settings: Config = config, lateMs = 1_000) {
    this.#tables = tables;
    const deliver = (event: AnomalyEvent) => {
      this.delivered.push(event);
    };
    const log = createLog({ level: 'silent' });
    log.warn = (_fields: unknown, message?: string) => {
      this.logged.push(message ?? '');
    };
    this.evaluator = new WindowEvaluator({
      config: settings,
      groupId: 'g',
      client: tables.client,
      outbox: keptOutbox(tables, deliver),
      log,
      metrics: createMetrics(),
      nowMs: () => tables.watermarkMs + lateMs,
      isLeading: () => this.isLeading,
    });
  }

  /** Evaluates up to and with a window; a failure kills it. */
  async evaluate(from: number, to: number): Promise<void> {
    for (let window = from; window < to; window++) {
      this.#tables.watermarkMs = scenarioStartMs + (window + 1) * windowMs + 2_000;
      await this.evaluator.step();
    }
  }
}

async function withoutRestart() {
  const tables = new FakeTables(windows);
  const member = new Member(tables);
  await member.evaluator.start();
  await member.evaluate(0, count);
  await member.evaluator.flush();
  return tables;
}

/** Evaluates so many windows a step; each member is killed at its n-th call, and followed by another. */
async function evaluateAll(
  tables: FakeTables,
  stride: number,
  deaths: readonly (readonly [calls: number, isDone: boolean])[],
): Promise<AnomalyEvent[]> {
  const delivered: AnomalyEvent[] = [];
  let evaluated = 0;
  for (let turn = 0; evaluated < count; turn++) {
    const [calls, isDone] = deaths[turn] ?? [Number.POSITIVE_INFINITY, false];
    tables.killAt(calls, isDone);
    const member = new Member(tables, config, 1_000 + 1_000 * turn);
    try {
      await member.evaluator.start();
      for (let to = evaluated; evaluated < count; evaluated = to) {
        to = Math.min(count, evaluated + stride);
        await member.evaluate(to - 1, to);
      }
    } catch (error) {
      expect(error).toBeInstanceOf(Killed);
    }
    delivered.push(...member.delivered);
  }
  return delivered;
}

const uninterrupted = withoutRestart();
/** All fields but the clock's time of emitting. */
const outline = (events: readonly AnomalyEvent[]) =>
  events.map(({ emitted_at, detected_at, resolved_at, ...event }) => event);
const nameOf = ({ id, revision }: AnomalyEvent) => `${id} ${revision}`;

describe('an evaluator that takes over', () => {
  it('emits what its predecessor would have, killed before any window, each event on record once', async () => {
    const expected = (await uninterrupted).events;
    expect(expected.map(({ state }) => state)).toEqual([
      ...['opened', 'updated', 'resolved', 'opened', 'resolved'],
    ]);
    const kills = fc.array(fc.integer({ min: 1, max: count - 1 }), { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(kills, async (at) => {
        const tables = new FakeTables(windows);
        const delivered: AnomalyEvent[] = [];
        const ends = [...new Set(at)].sort((a, b) => a - b);
        for (const [i, from] of [0, ...ends].entries()) {
          // Each is slower than the last.
          const member = new Member(tables, config, 1_000 + 7_000 * i);
          await member.evaluator.start();
          await member.evaluate(from, ends[i] ?? count);
          delivered.push(...member.delivered);
        }
        expect(outline(tables.events)).toEqual(outline(expected));
        expect(delivered.map(nameOf)).toEqual(tables.events.map(nameOf));
      }),
      { numRuns: 12, seed: 3, examples: [[[113, 114, 120]], [[81, 125, 152]]] },
    );
  });

  it('emits the same, killed within any step: at any call, with the call done or not', async () => {
    const expected = (await uninterrupted).events;
    // The first is killed near an event, its successors anywhere.
    const storing = fc.record({
      ...{
        event: fc.nat({ max: expected.length - 1 }),
        callsAfter: fc.integer({ min: -4, max: 8 }),
      },
      isDone: fc.boolean(),
    });
    const others = fc.array(fc.tuple(fc.integer({ min: 1, max: 60 }), fc.boolean()), {
      maxLength: 4,
    });
    const strides = fc.constantFrom(1, 4, 9);
    await fc.assert(
      fc.asyncProperty(storing, others, strides, async (first, next, stride) => {
        const dry = new FakeTables(windows);
        await evaluateAll(dry, stride, []);
        const calls = (dry.storingCalls[first.event] as number) + first.callsAfter;
        const tables = new FakeTables(windows);
        const delivered = await evaluateAll(tables, stride, [[calls, first.isDone], ...next]);
        const stored = new Map(tables.events.map((event) => [nameOf(event), event]));
        expect(outline([...stored.values()])).toEqual(outline(expected));
        // Each is stored once, and was delivered as stored, once.
        expect(tables.events).toHaveLength(stored.size);
        for (const event of delivered) expect(event).toEqual(stored.get(nameOf(event)));
        expect(delivered.map(nameOf).sort()).toEqual([...stored.keys()].sort());
        // Later events of an anomaly continue from the emitted ones.
        const starts = new Set(tables.events.map(({ id, detected_at }) => `${id} ${detected_at}`));
        expect(starts.size).toBe(new Set(expected.map(({ id }) => id)).size);
      }),
      { numRuns: 30, seed: 8 },
    );
  });

  it('goes on with events as they are stored, where its predecessor was killed before its progress was stored', async () => {
    const expected = (await uninterrupted).events;
    const tables = new FakeTables(windows);
    const first = new Member(tables);
    await first.evaluator.start();
    await first.evaluate(0, 70);
    tables.away.add('detector_progress');
    // In one step: an anomaly opens, grows and resolves; only its table shows that.
    await expect(first.evaluate(138, 139)).rejects.toThrow('detector_progress');
    tables.away.clear();
    const second = new Member(tables, config, 60_000);
    await second.evaluator.start();
    await second.evaluate(100, count);
    expect(outline(tables.events)).toEqual(outline(expected));
    expect(first.delivered.length).toBe(3);
    const all = [...first.delivered, ...second.delivered];
    expect(all.map(nameOf)).toEqual(expected.map(nameOf));
  });

  it('rebuilds from history, and gives the reason, where the snapshot has other settings', async () => {
    const tables = new FakeTables(windows);
    const first = new Member(tables);
    await first.evaluator.start();
    await first.evaluate(0, 100);
    const second = new Member(tables, configOf({ quantiles: [0.99] }));
    await second.evaluator.start();
    expect(second.logged).toContain('detector snapshot rejected; rebuilding from history');
    await second.evaluate(100, count);
    const states = tables.events.map(({ state }) => state);
    expect(states.filter((state) => state === 'opened')).toHaveLength(2);
    expect(states.filter((state) => state === 'resolved')).toHaveLength(2);
  });

  it('restores the snapshot before, where the last one is incomplete', async () => {
    const expected = (await uninterrupted).events;
    const tables = new FakeTables(windows);
    const first = new Member(tables);
    await first.evaluator.start();
    await first.evaluate(0, 132);
    const [newest, before] = tables.snapshots;
    expect(Number(newest?.as_of)).toBeGreaterThan(Number(before?.as_of));
    // Its slot is partly overwritten.
    const lost = [...tables.parts].find(([, { snapshot }]) => snapshot === newest?.snapshot);
    tables.parts.delete(lost?.[0] ?? '');
    const second = new Member(tables);
    await second.evaluator.start();
    await second.evaluate(132, count);
    expect(outline(tables.events)).toEqual(outline(expected));
    expect(second.logged.filter((line) => line.includes('snapshot rejected'))).toEqual([]);
  });

  it('does not write to the slot of the last complete snapshot', async () => {
    const tables = new FakeTables(windows);
    const first = new Member(tables);
    await first.evaluator.start();
    await first.evaluate(0, 70);
    const slots = () => tables.snapshots.map(({ slot }) => slot);
    const [last] = slots();
    const second = new Member(tables);
    await second.evaluator.start();
    tables.away.add('detector_snapshots');
    await second.evaluate(70, 130);
    tables.away.clear();
    expect(slots()[0]).toBe(last);
    const third = new Member(tables);
    await third.evaluator.start();
    expect(third.logged).toEqual([]);
    await third.evaluate(130, 131);
    expect(slots()[0]).not.toBe(last);
  });

  it('continues evaluating where its snapshot cannot be saved', async () => {
    const expected = (await uninterrupted).events;
    const tables = new FakeTables(windows);
    const member = new Member(tables);
    tables.away.add('detector_state');
    await member.evaluator.start();
    await member.evaluate(0, count);
    expect(outline(tables.events)).toEqual(outline(expected));
    expect(tables.snapshots).toEqual([]);
    expect(new Set(member.logged)).toContain('detector snapshot could not be saved');
  });

  it('without the lead writes nothing, and emits nothing', async () => {
    const tables = new FakeTables(windows);
    const member = new Member(tables);
    await member.evaluator.start();
    await member.evaluate(0, 79);
    const before = [tables.evaluatedUntilMs, tables.snapshots.length];
    member.isLeading = false;
    await expect(member.evaluate(79, count)).rejects.toThrow(LeadershipLost);
    await expect(member.evaluator.flush()).rejects.toThrow(LeadershipLost);
    expect([tables.evaluatedUntilMs, tables.snapshots.length]).toEqual(before);
    expect([tables.events, member.delivered]).toEqual([[], []]);
  });

  it('stores nothing after a call during which it has lost the lead', async () => {
    const opening = (await uninterrupted).stored[0]?.windowStartMs ?? 0;
    const window = (opening - scenarioStartMs) / windowMs;
    const storedAt: (readonly [lost: number, stored: number])[] = [];
    for (let call = 1; ; call++) {
      const tables = new FakeTables(windows);
      const member = new Member(tables);
      await member.evaluator.start();
      await member.evaluate(0, window);
      const lostAt = tables.calls + call;
      tables.onCall(call, () => {
        member.isLeading = false;
      });
      const error = await member.evaluate(window, window + 1).catch((reason: unknown) => reason);
      if (member.isLeading) break;
      for (const stored of tables.storingCalls) storedAt.push([lostAt, stored]);
      if (tables.storingCalls.length === 0) expect(error).toBeInstanceOf(LeadershipLost);
    }
    // The insert itself may have been under way, or done before.
    expect(storedAt.length).toBeGreaterThan(0);
    expect(storedAt.filter(([lost, stored]) => stored > lost)).toEqual([]);
  });
});
