import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Detector } from '../../src/detect/detector.ts';
import type { AnomalyEvent } from '../../src/detect/event/anomaly-event.ts';
import { seriesKey } from '../../src/series/series-key.ts';
import { UnreadableState } from '../../src/snapshot/unreadable-state.ts';
import { detectOptions } from '../scenarios/run-scenario.ts';
import { eventfulWindows } from './eventful-windows.ts';
import { LayoutTrace } from './layout-trace.ts';

const detect = { baseline: '10m', rebaseline_after: '40m' };
const options = detectOptions(detect);
const judgedAfterMs = 12_000;
const { windows, startMs, traffic, hours } = eventfulWindows(options.window);
const startOf = (window: number) => startMs + window * options.window;

interface Told {
  readonly window: number;
  readonly event: AnomalyEvent;
}

type Saved = ReadonlyMap<string, Buffer>;

function save(detector: Detector): Saved {
  return new Map([...detector.save()].map(({ name, bytes }) => [name, bytes]));
}

/** As a table has them: by their names. */
function byName(saved: Saved): Saved {
  return new Map([...saved].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The same for the same state, bit for bit. */
function digestOf(saved: Saved): string[] {
  return [...saved].map(([name, bytes]) => {
    return `${name} ${createHash('sha256').update(bytes).digest('hex')}`;
  });
}

function judge(detector: Detector, from: number, to: number, lateMs = judgedAfterMs): Told[] {
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

/** One that nobody kills: what it tells, and what it would have saved before some windows. */
function inPeace(savedAt: ReadonlySet<number>) {
  const detector = newDetector();
  const saved = new Map<number, Saved>();
  const told: Told[] = [];
  const trace = new LayoutTrace();
  for (let window = 0; window < windows.length; window++) {
    if (savedAt.has(window)) {
      saved.set(window, save(detector));
      for (const _ of detector.serialize(trace));
    }
    told.push(...judge(detector, window, window + 1));
  }
  return { told, saved, last: save(detector), layouts: trace.layouts };
}

/** What a table has of what was told before a window. */
function tableAt(told: readonly Told[], window: number) {
  const before = told.filter((one) => one.window < window);
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
const peace = inPeace(savedAt);

/** What each class keeps, as it is on record. */
const layoutFile = fileURLToPath(new URL('../fixtures/detector-state.json', import.meta.url));
const { layouts } = peace;

describe('the state of a detector', () => {
  it('is of a run with all that can happen', () => {
    const { told } = peace;
    const events = told.map(({ event }) => event);
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

  it('makes a successor tell, and know, what it would have, killed before any window', () => {
    const kills = fc.tuple(fc.constantFrom(...savedAt), fc.nat({ max: 60 }));
    fc.assert(
      fc.property(kills, ([at, windowsAfter]) => {
        const kill = Math.min(windows.length, at + windowsAfter);
        const successor = new Detector(options);
        for (const _ of successor.load(byName(peace.saved.get(at) as Saved)));
        // What it judges again comes out later, and is not told.
        judge(successor, at, kill, 77_000);
        const { open, isKnown } = tableAt(peace.told, kill);
        successor.reconcile(open, isKnown);
        const end = [...savedAt].find((window) => window >= kill + 100) ?? windows.length;
        const told = judge(successor, kill, end);
        expect(told).toEqual(peace.told.filter(({ window }) => window >= kill && window < end));
        expect(digestOf(save(successor))).toEqual(digestOf(peace.saved.get(end) ?? peace.last));
      }),
      // One whose series before is forgotten by all but itself.
      { numRuns: 25, seed: 6, examples: [[[195, 0]], [[195, 4]]] },
    );
  }, 120_000);

  it('is the same, and the same is told, where windows are judged together', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1 }), (lengths) => {
        const detector = newDetector();
        const told: AnomalyEvent[] = [];
        for (let at = 0, n = 0; at < windows.length; n++) {
          const end = at + (lengths[n % lengths.length] as number);
          const steps = windows.slice(at, end).map((present, i) => {
            const atMs = startOf(at + i);
            return { startMs: atMs, nowMs: atMs + judgedAfterMs, windows: present };
          });
          told.push(...detector.observeAll(steps));
          at = end;
        }
        expect(told).toEqual(peace.told.map(({ event }) => event));
        expect(digestOf(save(detector))).toEqual(digestOf(peace.last));
      }),
      { numRuns: 5, seed: 21, examples: [[[12]], [[windows.length]]] },
    );
  }, 120_000);

  it('is the same where windows of the past are learnt together', () => {
    const [one, together] = [newDetector(), newDetector()];
    for (const present of windows) one.warmUp(present);
    together.warmUpAll(windows);
    expect(digestOf(save(together))).toEqual(digestOf(save(one)));
  });

  it('is refused when it was saved with other settings, when parts are missing or are cut off', () => {
    const [at] = savedAt;
    const saved = peace.saved.get(at as number) as Saved;
    const loading = (parts: Saved, settings: object = {}) => {
      const successor = new Detector(detectOptions({ ...detect, ...settings }));
      return () => [...successor.load(parts)];
    };
    expect(loading(saved, { baseline: '20m' })).toThrow(
      /^it was saved with detect .*600000.*, which are now .*1200000/,
    );
    expect(loading(saved, { quantiles: [0.9] })).toThrow(UnreadableState);
    expect(loading(new Map())).toThrow(new UnreadableState('its part shared is missing'));
    for (const name of saved.keys()) {
      const without = new Map(saved);
      without.delete(name);
      expect(loading(without)).toThrow(new UnreadableState(`its part ${name} is missing`));
      const cut = saved.get(name)?.subarray(0, -1) as Buffer;
      expect(loading(new Map(saved).set(name, cut))).toThrow(UnreadableState);
    }
    // Settings that change what is told, not what is known, may be others.
    expect(loading(saved, { page_budget_per_week: 7 })).not.toThrow();
  });

  it('has a new version wherever its layout is another one', async () => {
    const recorded = JSON.parse(readFileSync(layoutFile, 'utf8')) as typeof layouts;
    const unmarked = Object.keys(layouts).filter((section) => {
      const [is, was] = [layouts[section], recorded[section]];
      return is?.version === was?.version && is?.layout !== was?.layout;
    });
    expect(unmarked, 'raise the versions that these sections are given').toEqual([]);
    // To be recorded then: npx vitest run --project unit test/detect/detector-state.test.ts -u
    await expect(`${JSON.stringify(layouts, null, 2)}\n`).toMatchFileSnapshot(layoutFile);
  });

  it('is small: less than 45 KB a stage', () => {
    const stagesOf = new Map(windows.flat().map((one) => [seriesKey(one.series), one.stages.size]));
    for (const [name, bytes] of peace.last) {
      const stages = stagesOf.get(name) ?? 1;
      expect([name, bytes.length / stages < 45_000]).toEqual([name, true]);
    }
  });
});
