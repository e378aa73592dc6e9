// Covers src/roles/detect/backfill.ts, src/roles/detect/completeness/measure-completeness.ts and
// src/roles/detect/detector-replay.ts.

import { describe, expect, it } from 'vitest';
import { createLog } from '../../../src/base/telemetry/log.ts';
import { createMetrics } from '../../../src/base/telemetry/metrics.ts';
import { configSchema } from '../../../src/config/schema.ts';
import type { AnomalyEvent } from '../../../src/contract/anomaly-event.ts';
import { nothingWrong } from '../../../src/roles/detect/completeness/completeness.ts';
import { LeadershipLost } from '../../../src/roles/detect/leadership-lost.ts';
import { WindowEvaluator } from '../../../src/roles/detect/window-evaluator.ts';
import { scenarioSchema } from '../../scenarios/scenario-schema.ts';
import { scenarioStartMs, scenarioWindows } from '../../scenarios/scenario-windows.ts';
import { FakeTables } from './fake-tables.ts';
import { keptOutbox } from './kept-outbox.ts';

const windowMs = 10_000;
const count = 150;
const config = configSchema.parse({
  detect: { baseline: '10m', save_interval: '5m', resolve_windows: 3 },
  windows: { grace: '2s' },
});

interface Fault {
  readonly windows: readonly [number, number];
  readonly share: number;
  readonly factor: number;
}

/** Windows of one series with so many requests each, with faults in some of them. */
function windowsOf(requests: number, ...faults: readonly Fault[]) {
  const stages = { forward: { median_ms: 50, sigma: 0.3 } };
  const scenario = scenarioSchema.parse({
    ...{ title: '', seed: 5, windows: count, series: [{ model: 'a', requests, stages }] },
    faults: faults.map((fault) => ({ series: 0, stage: 'forward', ...fault })),
    expect: [],
  });
  return scenarioWindows(scenario, windowMs);
}

type Windows = ReturnType<typeof windowsOf>;

/** An evaluator of which a partition lags for a while; its records arrive together at its return. */
class Rig {
  readonly tables: FakeTables;
  readonly emitted: AnomalyEvent[] = [];
  readonly logged: string[] = [];
  readonly metrics = createMetrics();
  readonly evaluator: WindowEvaluator;
  isLeading = true;
  isGivenUp = false;

  constructor(windows: Windows) {
    this.tables = new FakeTables(windows.flat());
    this.tables.watermarkMs = scenarioStartMs;
    const log = createLog({ level: 'silent' });
    log.info = (_fields: unknown, message?: string) => {
      this.logged.push(message ?? '');
    };
    log.warn = log.info;
    const deliver = (event: AnomalyEvent) => {
      this.emitted.push(event);
    };
    const partition = { name: 't/1', behindMs: 40_000, lagMessages: 9, isGivenUp: true };
    this.evaluator = new WindowEvaluator({
      ...{ config, groupId: 'g', client: this.tables.client, log, metrics: this.metrics },
      outbox: keptOutbox(this.tables, deliver),
      nowMs: () => this.tables.watermarkMs + 1_000,
      isLeading: () => this.isLeading,
      completeness: {
        probe: async () => ({
          ...nothingWrong,
          completeMs: this.tables.watermarkMs,
          knownMs: undefined,
          hasAllTraffic: !this.isGivenUp,
          behind: this.isGivenUp ? [partition] : [],
        }),
      },
    });
  }

  /** Evaluates the windows up to and with one. */
  async evaluateTo(last: number): Promise<void> {
    const { tables } = this;
    const next = Math.round(
      ((tables.evaluatedUntilMs ?? scenarioStartMs) - scenarioStartMs) / windowMs,
    );
    for (let window = next; window <= last; window++) {
      tables.watermarkMs = scenarioStartMs + (window + 1) * windowMs + 2_000;
      await this.evaluator.step();
    }
    await this.evaluator.flush();
  }

  /** Evaluates all on time but these windows, whose partition returns after the last of them. */
  async evaluateWithout([first, last]: readonly [number, number], all: Windows): Promise<void> {
    await this.evaluator.start();
    await this.evaluateTo(first - 1);
    this.isGivenUp = true;
    await this.evaluateTo(last);
    this.isGivenUp = false;
    this.tables.arrive(all.flat());
    await this.evaluateTo(count - 1);
  }

  get states(): string[] {
    return this.emitted.map(({ state }) => state);
  }

  /** Window in whose judging the first event was emitted. */
  get openedIn(): number {
    return this.windowOf(this.tables.stored[0]?.windowStartMs ?? Number.NaN);
  }

  windowOf(startMs: number): number {
    return (startMs - scenarioStartMs) / windowMs;
  }

  get reevaluations(): number {
    return this.logged.filter((line) => line.startsWith('windows re-evaluated')).length;
  }

  async counted(name: string): Promise<number> {
    const text = await this.metrics.registry.metrics();
    return Number(new RegExp(`^tailmark_${name} (\\S+)$`, 'm').exec(text)?.[1]);
  }
}

/** Runs with all windows on time. */
async function onTime(windows: Windows): Promise<Rig> {
  const rig = new Rig(windows);
  await rig.evaluator.start();
  await rig.evaluateTo(count - 1);
  return rig;
}

/** Takes the first windows of one, and the rest of the other. */
const spliced = (before: Windows, from: number, after: Windows) => [
  ...before.slice(0, from),
  ...after.slice(from),
];

describe('windows that receive requests after they were evaluated', () => {
  const slow = { windows: [80, 130], share: 0.045, factor: 3 } as const;
  const whole = windowsOf(300, slow);
  const part = windowsOf(200);

  /** A rig that has evaluated windows 80 to 99 in part; their other requests are stored by now. */
  async function withLateRequests(): Promise<Rig> {
    const rig = new Rig(spliced(whole, 80, part));
    await rig.evaluator.start();
    await rig.evaluateTo(79);
    rig.isGivenUp = true;
    await rig.evaluateTo(99);
    rig.isGivenUp = false;
    rig.tables.arrive(whole.flat());
    return rig;
  }

  it('are re-evaluated: what was not seen is opened, once, as if all had come on time', async () => {
    const expected = await onTime(whole);
    expect(expected.states).toEqual(['opened', 'resolved']);
    const rig = new Rig(spliced(whole, 80, part));
    await rig.evaluateWithout([80, 99], whole);
    expect(rig.states).toEqual(['opened', 'resolved']);
    const [first] = expected.emitted;
    expect(rig.emitted[0]).toMatchObject({ id: first?.id, started_at: first?.started_at });
    // With the first window that is evaluated after the partition is back.
    expect([expected.openedIn, rig.openedIn]).toEqual([83, 100]);
    expect(rig.reevaluations).toBe(1);
    expect(await rig.counted('windows_evaluated_again_total')).toBe(20);
    expect(await rig.counted('windows_left_late_total')).toBe(0);
  });

  it('emit nothing of a fault that started and ended among them, and learn nothing from it', async () => {
    const short = windowsOf(300, { windows: [80, 92], share: 0.5, factor: 4 });
    expect((await onTime(short)).states).toEqual(['opened', 'resolved']);
    const rig = new Rig(spliced(short, 80, part));
    await rig.evaluateWithout([80, 109], short);
    expect([rig.states, rig.reevaluations]).toEqual([[], 1]);
    expect(rig.tables.events).toEqual([]);
  });

  it('update the page of a fault seen in part, though it started earlier: never a second one', async () => {
    const grown = windowsOf(300, { windows: [80, 125], share: 0.9, factor: 9 });
    const seen = windowsOf(200, { windows: [84, 125], share: 0.5, factor: 1.9 });
    const rig = new Rig(spliced(grown, 80, seen));
    await rig.evaluateWithout([80, 99], grown);
    const [opened, updated, resolved] = rig.emitted;
    expect(rig.emitted).toHaveLength(3);
    expect(opened).toMatchObject({ state: 'opened', revision: 1, severity: 'warning' });
    const { id, started_at, detected_at } = opened as AnomalyEvent;
    const same = { id, started_at, detected_at };
    expect(updated).toMatchObject({ ...same, state: 'updated', revision: 2, severity: 'critical' });
    expect(resolved).toMatchObject({ ...same, state: 'resolved', revision: 3 });
    expect(rig.windowOf(rig.tables.stored[1]?.windowStartMs ?? 0)).toBe(100);
    expect(rig.reevaluations).toBe(1);
    // With all windows on time it would have another start, and so another id.
    expect(Date.parse((await onTime(grown)).emitted[0]?.started_at ?? '')).toBeLessThan(
      Date.parse(started_at),
    );
  });

  it('leave what was emitted and is over as it is, though it began earlier and has lasted longer', async () => {
    const longer = windowsOf(
      300,
      { windows: [78, 99], share: 0.5, factor: 4 },
      { windows: [100, 100], share: 0.045, factor: 3 },
    );
    const seen = windowsOf(200, { windows: [82, 86], share: 0.5, factor: 4 });
    const rig = new Rig(spliced(part, 0, spliced(seen, 100, longer)));
    await rig.evaluateWithout([76, 99], longer);
    expect(rig.reevaluations).toBe(1);
    expect(rig.states).toEqual(['opened', 'resolved']);
    expect(new Set(rig.emitted.map(({ id }) => id)).size).toBe(1);
  });

  it('are not re-evaluated for a hundredth of their requests', async () => {
    const rig = new Rig(part);
    await rig.evaluateWithout([80, 99], windowsOf(202));
    expect([rig.reevaluations, await rig.counted('windows_evaluated_again_total')]).toEqual([0, 0]);
  });

  it('wait until no partition is behind; the snapshot of before is kept until then', async () => {
    const rig = new Rig(spliced(whole, 80, part));
    await rig.evaluator.start();
    await rig.evaluateTo(79);
    rig.isGivenUp = true;
    await rig.evaluateTo(89);
    rig.tables.arrive(whole.slice(0, 120).flat());
    const before = rig.tables.snapshots.length;
    await rig.evaluateTo(125);
    expect([rig.reevaluations, rig.tables.snapshots.length]).toEqual([0, before]);
    rig.isGivenUp = false;
    await rig.evaluateTo(126);
    expect([rig.reevaluations, rig.tables.snapshots.length]).toEqual([1, before + 1]);
  });

  it('are re-evaluated by another turn where one fails, which saves nothing of what is half', async () => {
    const rig = await withLateRequests();
    const before = rig.tables.snapshots.length;
    // The ledger is not read: the requests, the times of snapshots, their list, a snapshot, its windows.
    rig.tables.failAt(5);
    await expect(rig.evaluateTo(100)).rejects.toThrow('connection reset');
    await rig.evaluator.flush();
    expect(rig.tables.snapshots).toHaveLength(before);
    await rig.evaluateTo(count - 1);
    expect([rig.reevaluations, rig.states]).toEqual([1, ['opened', 'resolved']]);
    expect(rig.openedIn).toBe(100);
  });

  it('do not block new windows, where they cannot be counted', async () => {
    const rig = await withLateRequests();
    rig.tables.failAt(1);
    await rig.evaluateTo(100);
    expect(rig.logged).toContain('late requests could not be counted');
    expect(rig.windowOf(rig.tables.evaluatedUntilMs ?? 0)).toBe(101);
    await rig.evaluateTo(101);
    expect(rig.reevaluations).toBe(1);
  });

  it('are not re-evaluated by a process that no longer leads', async () => {
    const rig = await withLateRequests();
    rig.tables.onCall(5, () => {
      rig.isLeading = false;
    });
    await expect(rig.evaluateTo(100)).rejects.toThrow(LeadershipLost);
    expect([rig.reevaluations, rig.emitted, rig.tables.events]).toEqual([0, [], []]);
  });
});
