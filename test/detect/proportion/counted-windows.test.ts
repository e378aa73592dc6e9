import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { quarantineWindows } from '../../../src/detect/options/detect-options.ts';
import { CountedWindows } from '../../../src/detect/proportion/counted-windows.ts';
import { TDigest } from '../../../src/sketch/t-digest.ts';
import { StateReader } from '../../../src/snapshot/archive-reader.ts';
import { StateWriter } from '../../../src/snapshot/archive-writer.ts';

const windowMs = 10_000;
const mostKept = 30;
const steps = fc.array(
  fc.record({
    stage: fc.constantFrom('total', 'total', 'total', 'forward', 'queue'),
    requests: fc.nat({ max: 500 }),
    hits: fc.nat({ max: 600 }),
    errors: fc.nat({ max: 9 }),
    timeouts: fc.nat({ max: 9 }),
    /** Number of digests of the stage. */
    digests: fc.integer({ min: 1, max: 2 }),
    isSuspicious: fc.boolean(),
    isAside: fc.boolean(),
  }),
  { maxLength: 80 },
);
type Step = typeof steps extends fc.Arbitrary<readonly (infer One)[]> ? One : never;

interface Kept extends Step {
  readonly startMs: number;
  readonly means: readonly number[];
}

function restored(windows: CountedWindows): CountedWindows {
  const writer = new StateWriter();
  windows.serialize(writer);
  const reader = new StateReader(writer.drain());
  const other = new CountedWindows();
  other.serialize(reader);
  reader.end();
  return other;
}

function expectSame(windows: CountedWindows, model: readonly Kept[]): void {
  const wholes = model.map(({ stage, requests, errors, timeouts }) => {
    return { stage, requests, errors, timeouts };
  });
  expect(windows.wholesOf(mostKept)).toEqual(wholes);
  expect(windows.wholesOf(3)).toEqual(wholes.slice(-3));
  for (const windowsOf of [3, mostKept]) {
    const known = model.slice(-Math.min(windowsOf, quarantineWindows));
    const means = windows.digestsOf(windowsOf).map((digest) => digest.means[0]);
    expect(means).toEqual(known.flatMap((one) => one.means));
  }
  expect(windows.lastOffsets(mostKept).map((at) => entryOf(windows, at))).toEqual(
    model.map(({ startMs, requests, hits, isAside, isSuspicious }) => {
      return [startMs, requests, Math.min(requests, hits), !isAside, isSuspicious];
    }),
  );
}

function entryOf(windows: CountedWindows, at: number) {
  return [
    windows.startMsOf(at),
    windows.requestsOf(at),
    windows.hitsOf(at),
    windows.isLearnable(at),
    windows.isSuspicious(at),
  ];
}

describe('CountedWindows', () => {
  it('keep the last thirty windows, six of them in quarantine, also in a snapshot', () => {
    fc.assert(
      fc.property(steps, (given) => {
        let windows = new CountedWindows();
        let model: Kept[] = [];
        for (const [n, step] of given.entries()) {
          const { stage, requests, hits, errors, timeouts } = step;
          const startMs = n * windowMs;
          const means = Array.from({ length: step.digests }, (_, i) => n + i / 2);
          const all = means.map((mean) => TDigest.fromCentroids([mean], [1]));
          const digests = step.digests === 1 ? (all[0] as TDigest) : all;
          windows.add(startMs, { whole: { stage, requests, errors, timeouts }, hits, digests });
          if (step.isSuspicious) windows.markSuspicious();
          if (step.isAside) windows.exclude(windows.offsetBack(1));
          model = [...model, { ...step, startMs, means }].slice(-mostKept);
          expectSame(windows, model);
          if (n % 17 === 16) {
            windows = restored(windows);
            expectSame(windows, model);
          }
          const starts = model.map((one) => one.startMs).slice(-quarantineWindows - 1);
          expect(windows.quarantine.map((at) => windows.startMsOf(at))).toEqual(starts);
          const at = windows.release();
          const isOne = starts.length > quarantineWindows;
          expect(at && windows.startMsOf(at)).toBe(isOne ? starts[0] : undefined);
          expect(windows.release()).toBeUndefined();
        }
      }),
      { seed: 14, numRuns: 100 },
    );
  });
});
