import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AnomalyEvent } from '../../src/contract/anomaly-event.ts';
import { Detector } from '../../src/detect/detector.ts';
import { sharedPart } from '../../src/detect/state-parts.ts';
import { seriesKey } from '../../src/series/series-key.ts';
import { UnreadableState } from '../../src/snapshot/archive.ts';
import { detectOptions } from '../scenarios/run-scenario.ts';
import { eventfulWindows } from './eventful-windows.ts';
import { LayoutTrace } from './layout-trace.ts';
import { loadState } from './load-state.ts';

const detect = { baseline: '10m', rebaseline_after: '40m' };
const options = detectOptions(detect);
const evaluatedAfterMs = 12_000;
const { windows, startMs, traffic, hours } = eventfulWindows(options.window);
const startOf = (window: number) => startMs + window * options.window;

interface Emitted {
  readonly window: number;
  readonly event: AnomalyEvent;
}

type Saved = ReadonlyMap<string, Buffer>;

function save(detector: Detector): Saved {
  return new Map([...detector.save()].map(({ name, bytes }) => [name, bytes]));
}

/** Rows as in a table: by their names. */
function byName(saved: Saved): Saved {
  return new Map([...saved].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Digests of equal states are equal, bit for bit. */
function digestOf(saved: Saved): string[] {
  return [...saved].map(([name, bytes]) => {
    return `${name} ${createHash('sha256').update(bytes).digest('hex')}`;
  });
}

function evaluate(
  detector: Detector,
  from: number,
  to: number,
  lateMs = evaluatedAfterMs,
): Emitted[] {
  return windows.slice(from, to).flatMap((present, i) => {
    const atMs = startOf(from + i);
    const events = detector.observe(present, atMs + lateMs, atMs);
    return events.map((event) => ({ window: from + i, event }));
  });
}

function newDetector(): Detector {
  const detector = new Detector(options);
  detector.backfillTraffic(traffic, startMs);
  detector.backfillHours(hours);
  return detector;
}

/** Runs a detector without restarts; returns its events, and its snapshots before some windows. */
function withoutRestart(savedAt: ReadonlySet<number>) {
  const detector = newDetector();
  const saved = new Map<number, Saved>();
  const emitted: Emitted[] = [];
  const trace = new LayoutTrace();
  for (let window = 0; window < windows.length; window++) {
    if (savedAt.has(window)) {
      saved.set(window, save(detector));
      for (const _ of detector.serialize(trace));
    }
    emitted.push(...evaluate(detector, window, window + 1));
  }
  return { emitted, saved, last: save(detector), layouts: trace.layouts };
}

/** Rows of the table for events emitted before a window. */
function tableAt(emitted: readonly Emitted[], window: number) {
  const before = emitted.filter((one) => one.window < window);
  const last = new Map(before.map(({ event }) => [event.id, event]));
  const isOpen = (id: string) => last.get(id)?.state !== 'resolved';
  return {
    open: [...last.values()].filter(({ id, incident_id }) => isOpen(incident_id ?? id)),
    isKnown: (id: string) => last.has(id),
  };
}

const everyWindow = 19;
const savedAt = new Set(
  windows.map((_, window) => window).filter((window) => window % everyWindow === 5),
);
const uninterrupted = withoutRestart(savedAt);

/** Recorded layout of the sections of each class. */
const layoutFile = fileURLToPath(new URL('../fixtures/detector-state.json', import.meta.url));
const { layouts } = uninterrupted;

describe('the state of a detector', () => {
  it('comes from a run that covers all features', () => {
    const { emitted } = uninterrupted;
    const events = emitted.map(({ event }) => event);
    // Series that share a page, and pages that open once and resolve once.
    const pages = events.filter(({ incident_id }) => incident_id === undefined);
    const shared = pages.filter(({ scope }) => scope !== undefined);
    expect(new Set(shared.map(({ kind }) => kind))).toEqual(new Set(['tail_shift', 'error_rate']));
    expect(events.length).toBeGreaterThan(pages.length);
    for (const state of ['opened', 'resolved']) {
      const ids = pages.flatMap((event) => (event.state === state ? event.id : []));
      expect([state, new Set(ids).size]).toEqual([state, ids.length]);
    }
    const ends = (...kinds: AnomalyEvent['kind'][]) => {
      const ofKinds = events.filter(({ kind }) => kinds.includes(kind));
      return new Set(ofKinds.flatMap(({ resolution }) => resolution ?? []));
    };
    expect(new Set(events.map(({ state }) => state))).toEqual(
      new Set(['opened', 'updated', 'resolved']),
    );
    const all = new Set(['recovered', 'rebaselined', 'no_traffic']);
    for (const kind of ['tail_shift', 'error_rate']) {
      const updated = events.filter((event) => event.kind === kind && event.state === 'updated');
      expect([kind, updated.length > 0]).toEqual([kind, true]);
    }
    expect(ends('tail_shift')).toEqual(all);
    expect(ends('error_rate')).toEqual(all);
    expect(ends('cold_starts')).toEqual(new Set(['recovered', 'rebaselined']));
    expect(ends('drift')).toEqual(new Set(['rebaselined']));
    expect(ends('throughput_drop')).toEqual(new Set(['recovered']));
    expect(ends('no_data')).toEqual(new Set(['recovered', 'rebaselined']));
    expect(new Set(events.map(({ version }) => version)).size).toBeGreaterThan(1);
  });

  it('makes a successor emit the same from the same state, after a crash before any window', () => {
    const kills = fc.tuple(fc.constantFrom(...savedAt), fc.nat({ max: 60 }));
    fc.assert(
      fc.property(kills, ([at, windowsAfter]) => {
        const kill = Math.min(windows.length, at + windowsAfter);
        const successor = new Detector(options);
        loadState(successor, byName(uninterrupted.saved.get(at) as Saved));
        // Backfilled windows are evaluated with a later clock, and emit nothing.
        evaluate(successor, at, kill, 77_000);
        const { open, isKnown } = tableAt(uninterrupted.emitted, kill);
        successor.reconcile(open, isKnown);
        const end = [...savedAt].find((window) => window >= kill + 100) ?? windows.length;
        const emitted = evaluate(successor, kill, end);
        expect(emitted).toEqual(
          uninterrupted.emitted.filter(({ window }) => window >= kill && window < end),
        );
        expect(digestOf(save(successor))).toEqual(
          digestOf(uninterrupted.saved.get(end) ?? uninterrupted.last),
        );
      }),
      // One whose predecessor series only it remembers.
      { numRuns: 25, seed: 6, examples: [[[195, 0]], [[195, 4]]] },
    );
  });

  it('is the same, with the same events, where windows are evaluated together', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1 }), (lengths) => {
        const detector = newDetector();
        const emitted: AnomalyEvent[] = [];
        for (let at = 0, n = 0; at < windows.length; n++) {
          const end = at + (lengths[n % lengths.length] as number);
          const steps = windows.slice(at, end).map((present, i) => {
            const atMs = startOf(at + i);
            return { startMs: atMs, nowMs: atMs + evaluatedAfterMs, windows: present };
          });
          emitted.push(...detector.observeAll(steps));
          at = end;
        }
        expect(emitted).toEqual(uninterrupted.emitted.map(({ event }) => event));
        expect(digestOf(save(detector))).toEqual(digestOf(uninterrupted.last));
      }),
      { numRuns: 5, seed: 21, examples: [[[12]], [[windows.length]]] },
    );
  });

  it('is the same where windows of the past are backfilled together', () => {
    const [one, together] = [newDetector(), newDetector()];
    for (const present of windows) one.warmUp([present]);
    together.warmUp(windows);
    expect(digestOf(save(together))).toEqual(digestOf(save(one)));
  });

  it('is refused when saved with other settings, or when parts are missing or truncated', () => {
    const [at] = savedAt;
    const saved = uninterrupted.saved.get(at as number) as Saved;
    const loading = (parts: Saved, settings: object = {}) => {
      const successor = new Detector(detectOptions({ ...detect, ...settings }));
      return () => loadState(successor, parts);
    };
    expect(loading(saved, { baseline: '20m' })).toThrow(
      /^it was saved with detect .*600000.*, which are now .*1200000/,
    );
    expect(loading(saved, { quantiles: [0.9] })).toThrow(UnreadableState);
    expect(loading(new Map())).toThrow(UnreadableState);
    for (const name of saved.keys()) {
      const without = new Map(saved);
      without.delete(name);
      const missing = new UnreadableState(`its part ${name} is missing`);
      expect(loading(without)).toThrow(name === sharedPart ? UnreadableState : missing);
      const cut = saved.get(name)?.subarray(0, -1) as Buffer;
      expect(loading(new Map(saved).set(name, cut))).toThrow(UnreadableState);
    }
    // Settings of emitting alone may differ.
    expect(loading(saved, { page_budget_per_week: 7 })).not.toThrow();
  });

  it('has a new version wherever its layout differs', async () => {
    const recorded = JSON.parse(readFileSync(layoutFile, 'utf8')) as typeof layouts;
    const unmarked = Object.keys(layouts).filter((section) => {
      const [is, was] = [layouts[section], recorded[section]];
      return is?.version === was?.version && is?.layout !== was?.layout;
    });
    expect(unmarked, 'raise the versions that these sections are given').toEqual([]);
    // Recorded by: npx vitest run --project unit test/detect/detector-state.test.ts -u
    await expect(`${JSON.stringify(layouts, null, 2)}\n`).toMatchFileSnapshot(layoutFile);
  });

  it('is small: less than 45 KB a stage', () => {
    const stagesOf = new Map(windows.flat().map((one) => [seriesKey(one.series), one.stages.size]));
    for (const [name, bytes] of uninterrupted.last) {
      const stages = stagesOf.get(name) ?? 1;
      expect([name, bytes.length / stages < 45_000]).toEqual([name, true]);
    }
  });
});
