import { describe, expect, it } from 'vitest';
import { minuteMs } from '../../../src/base/time.ts';
import type { AnomalyEvent, Resolution } from '../../../src/contract/anomaly-event.ts';
import { AnomalyLifecycle } from '../../../src/detect/lifecycle/anomaly-lifecycle.ts';
import { type EventUpdate, OpenAnomaly } from '../../../src/detect/lifecycle/open-anomaly.ts';
import type { PresentAnomaly } from '../../../src/detect/options/detector-step.ts';
import { anomalyFixture } from '../../contract/anomaly-fixture.ts';
import { detectOptions } from '../../scenarios/run-scenario.ts';

const options = detectOptions();
const windowMs = options.window;
const startMs = Date.parse('2026-11-01T12:00:00.000Z');

/** A window as the lifecycle sees it. `none` has too few requests to evaluate. */
interface Window {
  readonly is: 'anomalous' | 'clear' | 'none';
  readonly update?: EventUpdate;
  readonly isRebaselinable?: boolean;
  readonly live?: boolean;
  /** Windows without an evaluation before this one. */
  readonly gap?: number;
}

/** A lifecycle, its windows one by one, and what it called. */
class Life {
  readonly lifecycle: AnomalyLifecycle<OpenAnomaly>;
  readonly ended: Resolution[] = [];
  /** How it was in the last window, for its incident. */
  present = new Map<string, PresentAnomaly>();
  #startMs = startMs - windowMs;

  constructor(Open = OpenAnomaly) {
    this.lifecycle = new AnomalyLifecycle(options, Open);
  }

  step({ is, update, isRebaselinable = false, live = true, gap = 0 }: Window) {
    this.#startMs += windowMs * (1 + gap);
    const nowMs = this.#startMs + windowMs;
    const opening = anomalyFixture({ started_at: iso(this.#startMs), emitted_at: iso(nowMs) });
    this.present = new Map();
    const { present } = this;
    const context = { nowMs, live, totalRequests: 1_000, levels: { perWeek: 1 }, present };
    const event = this.lifecycle.step(
      this.#startMs,
      {
        isAnomalous: () => (is === 'none' ? undefined : is === 'anomalous'),
        opening: () => (is === 'anomalous' ? opening : undefined),
        update: () => update,
        present: () => undefined,
        isRebaselinable: () => isRebaselinable,
        resolvedSummary: (_, resolution) => resolution,
        ended: (resolution) => this.ended.push(resolution),
      },
      context,
    );
    return event && `${event.state} ${event.revision}`;
  }

  steps(count: number, window: Window) {
    return Array.from({ length: count }, () => this.step(window));
  }
}

const nothing = undefined;
const anomalous: Window = { is: 'anomalous' };
const clear: Window = { is: 'clear' };
const none: Window = { is: 'none' };

describe('AnomalyLifecycle', () => {
  it('opens once, and recovers after as many clear windows in a row as the setting says', () => {
    const life = new Life();
    const needed = options.resolve_windows;
    expect(life.step(clear)).toBe(nothing);
    expect(life.steps(2, anomalous)).toEqual(['opened 1', nothing]);
    expect(life.steps(needed - 1, clear)).toEqual(Array(needed - 1).fill(nothing));
    expect(life.step(anomalous)).toBe(nothing);
    expect(life.steps(needed, clear)).toEqual([...Array(needed - 1).fill(nothing), 'resolved 2']);
    expect([life.ended, life.lifecycle.isOpen]).toEqual([['recovered'], false]);
  });

  it('tells its incident that it is as good as over where its window is clear, or its tail is back', () => {
    class Back extends OpenAnomaly {
      override get isBack(): boolean {
        return true;
      }
    }
    const isClear = (life: Life) => [...life.present.values()].map((present) => present.isClear);
    const [life, back] = [new Life(), new Life(Back)];
    for (const each of [life, back]) each.steps(2, anomalous);
    expect([isClear(life), isClear(back)]).toEqual([[false], [true]]);
    life.step(clear);
    expect(isClear(life)).toEqual([true]);
  });

  it('has ended where its clear windows began, and not where it is the baseline now', () => {
    const open = new OpenAnomaly(anomalyFixture(), options, true, {
      clearWindows: 3,
      decayedMs: 1,
    });
    open.start(startMs);
    open.count(startMs, true);
    for (const n of [1, 2, 3]) open.count(startMs + n * windowMs, false);
    const ended = (resolution: Resolution) => open.resolve(resolution, '', startMs).ended_at;
    expect(ended('recovered')).toBe(iso(startMs + windowMs));
    expect(ended('rebaselined')).toBeNull();
    open.count(startMs + 4 * windowMs, true);
    expect(ended('no_traffic')).toBe(iso(startMs + 5 * windowMs));
  });

  it('needs twice as many clear windows the second time within an hour', () => {
    const life = new Life();
    const needed = options.resolve_windows;
    life.step(anomalous);
    life.steps(needed, clear);
    expect(life.step(anomalous)).toBe('opened 1');
    expect(life.steps(2 * needed, clear).indexOf('resolved 2')).toBe(2 * needed - 1);
  });

  it('ends without traffic after ten minutes that cannot be evaluated', () => {
    const life = new Life();
    life.step(anomalous);
    const windows = (10 * minuteMs) / windowMs;
    expect(life.steps(windows, none).indexOf('resolved 2')).toBe(windows - 1);
    expect(life.ended).toEqual(['no_traffic']);
  });

  it('updates after five minutes, then after ten; at once where it becomes critical, and never back', () => {
    const life = new Life();
    life.step({ is: 'anomalous' });
    const lesser: Window = { is: 'anomalous', update: { ratio: 9, severity: 'warning' } };
    const updates = life.steps(100, lesser).flatMap((event, i) => (event ? [i + 1] : []));
    expect(updates).toEqual([(5 * minuteMs) / windowMs, (15 * minuteMs) / windowMs]);
    expect(life.lifecycle.open?.event).toMatchObject({ ratio: 9, severity: 'critical' });

    const warning = new Life();
    const opened = anomalyFixture({ severity: 'warning', started_at: iso(startMs) });
    warning.lifecycle.restore(opened);
    expect(warning.step(lesser)).toBe(nothing);
    expect(warning.step({ is: 'anomalous', update: { severity: 'critical' } })).toBe('updated 2');
  });

  it('becomes the baseline once it has lasted and enough of it is known', () => {
    const life = new Life();
    life.step(anomalous);
    const lasting = Math.max(options.rebaseline_after, options.baseline) / windowMs;
    const known: Window = { is: 'anomalous', isRebaselinable: true };
    expect(life.step({ ...known, gap: lasting - 2 })).toBe(nothing);
    expect(life.step(anomalous)).toBe(nothing);
    expect(life.step(known)).toBe('resolved 2');
    expect(life.ended).toEqual(['rebaselined']);
  });

  it('emits nothing while history is replayed; an anomaly that still opens is emitted then', () => {
    const life = new Life();
    expect(life.steps(3, { ...anomalous, live: false })).toEqual(Array(3).fill(nothing));
    expect(life.step(clear)).toBe(nothing);
    expect(life.step(anomalous)).toBe('opened 1');
    const unseen = new Life();
    unseen.step({ ...anomalous, live: false });
    expect(unseen.steps(options.resolve_windows, clear)).toEqual(
      Array(options.resolve_windows).fill(nothing),
    );
    expect([unseen.ended, unseen.lifecycle.isOpen]).toEqual([['recovered'], false]);
  });

  it('keeps a published anomaly open over a replay, from its start on', () => {
    const life = new Life();
    life.lifecycle.restore(anomalyFixture({ started_at: iso(startMs + windowMs) }));
    expect(life.lifecycle.isOpen).toBe(true);
    expect(life.lifecycle.open).toBeUndefined();
    const replayed: Window = { is: 'clear', live: false };
    life.step(replayed);
    expect(life.lifecycle.open).toBeUndefined();
    expect(life.steps(50, replayed)).toEqual(Array(50).fill(nothing));
    expect(life.lifecycle.open?.event.revision).toBe(1);
    expect(life.step(clear)).toBe('resolved 2');
  });

  const other = anomalyFixture({ id: 'f'.repeat(32), started_at: iso(startMs) });
  it.each<[string, (own: AnomalyEvent) => AnomalyEvent | undefined, boolean]>([
    ['the same event: it is kept', (own) => own, true],
    ['a later revision: it replaces the own one', (own) => ({ ...own, revision: 2 }), true],
    ['another one: it replaces the own one', () => other, true],
    ['none, though it was published: it is over', () => undefined, true],
    ['none, and it never was: it is kept, not emitted', () => undefined, false],
  ])('is reconciled with what is published: %s', (_, publishedOf, isPublished) => {
    const life = new Life();
    life.step(anomalous);
    const own = life.lifecycle.open?.event as AnomalyEvent;
    const published = publishedOf(own);
    const isOver = life.lifecycle.reconcile(published, () => isPublished);
    expect(isOver).toBe(published === undefined && isPublished);
    if (isOver) {
      expect(life.lifecycle.isOpen).toBe(false);
      return;
    }
    // Kept without a publication, it opens in the next anomalous window.
    expect(life.step(anomalous)).toBe(published === undefined ? 'opened 1' : nothing);
    const { id, revision } = published ?? own;
    expect(life.lifecycle.open?.event).toMatchObject({ id, revision });
  });
});

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
