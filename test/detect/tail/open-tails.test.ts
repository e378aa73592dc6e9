import { describe, expect, it } from 'vitest';
import type { AnomalyEvent } from '../../../src/contract/anomaly-event.ts';
import type { Evaluation } from '../../../src/detect/lifecycle/anomaly-lifecycle.ts';
import type { OpenTail } from '../../../src/detect/tail/open-tail.ts';
import { OpenTails } from '../../../src/detect/tail/open-tails.ts';
import type { ShiftVerdict } from '../../../src/detect/tail/shift-verdict.ts';
import { anomalyFixture } from '../../contract/anomaly-fixture.ts';
import { detectOptions } from '../../scenarios/run-scenario.ts';

const startMs = Date.parse(anomalyFixture().started_at);
const context = { nowMs: startMs, levels: { perWeek: 1 }, totalRequests: 1_000, live: true };
const iso = (seconds: number) => new Date(startMs + seconds * 1_000).toISOString();

/** An anomaly that blames a stage, some seconds after the first. */
function anomaly(id: string, stage: string, seconds: number): AnomalyEvent {
  return anomalyFixture({ id, stage, started_at: iso(seconds), emitted_at: iso(seconds) });
}

/** A verdict of an unusual stage that got slow some seconds after the first anomaly. */
function verdict(stage: string, seconds: number): ShiftVerdict {
  const found = { stage, startedAtMs: startMs + seconds * 1_000, anomalous: true };
  return { ...found, exceeding: false } as unknown as ShiftVerdict;
}

/** Restores anomalies, and steps a window in which all of them persist. */
function restored(events: readonly AnomalyEvent[]): OpenTails {
  const tails = new OpenTails(detectOptions());
  for (const event of events) tails.restore(event);
  tails.install(startMs + 600_000, true);
  return tails;
}

const persists: Evaluation<OpenTail> = {
  isAnomalous: () => true,
  opening: () => undefined,
  update: () => undefined,
  present: () => undefined,
  isRebaselinable: () => false,
  resolvedSummary: () => '',
  ended: () => {},
};

describe('OpenTails', () => {
  it('explains what began within 90 seconds of an anomaly, and as long as that is open', () => {
    const tails = restored([anomaly('a', 'features', 0)]);
    const [open] = tails.open as [OpenTail];
    expect(
      [verdict('queue', 90), verdict('queue', 100)].map((each) => tails.isLater(open, each)),
    ).toEqual([false, true]);
    tails.explain([verdict('queue', 90), verdict('forward', 100)]);
    expect(['features', 'total', 'queue', 'forward'].map((stage) => open.owns(stage))).toEqual([
      ...[true, true, true, false],
    ]);
    expect(tails.isLater(open, verdict('queue', 500))).toBe(false);
  });

  it('counts a stage to the latest of several anomalies that began with it', () => {
    const tails = restored([anomaly('a', 'features', 0), anomaly('b', 'forward', 300)]);
    tails.explain([verdict('queue', 320), verdict('parse', 30)]);
    expect(tails.open.map((open) => [open.owns('queue'), open.owns('parse')])).toEqual([
      [false, false],
      [true, true],
    ]);
  });

  it('lets the total hold an anomaly open only while it has one cause', () => {
    const ofStage = { ...anomalyFixture().evidence, measured_stage: 'features' };
    const one = { ...anomaly('a', 'features', 0), evidence: ofStage };
    const total = verdict('total', 0);
    const alone = restored([one]);
    const [open] = alone.open as [OpenTail];
    expect(alone.isOther(open, total, [total])).toBe(true);
    expect(alone.isOther(open, total, [total, verdict('forward', 200)])).toBe(false);
    const both = restored([one, anomaly('b', 'forward', 300)]);
    expect(both.isOther(both.open[0] as OpenTail, total, [total])).toBe(false);
  });

  it('matches published anomalies by id, else by stage, and drops those that are over', () => {
    const tails = restored([anomaly('a', 'features', 0), anomaly('b', 'forward', 300)]);
    const published = [anomaly('c', 'forward', 290)];
    const over = tails.reconcile(published, () => true);
    expect(over.map(({ event }) => event.id)).toEqual(['a']);
    tails.install(startMs + 610_000, true);
    expect(tails.open.map(({ event }) => event.id)).toEqual(['c']);
  });

  it('steps all of them', () => {
    const tails = restored([anomaly('a', 'features', 0), anomaly('b', 'forward', 300)]);
    const seen: (string | undefined)[] = [];
    tails.step(startMs + 610_000, context, ({ event }) => {
      seen.push(event?.id);
      return persists;
    });
    // The last one has no anomaly yet: a third cause may open.
    expect(seen).toEqual(['a', 'b', undefined]);
  });
});
