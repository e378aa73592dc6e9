import { describe, expect, it } from 'vitest';
import { TailRecovery } from '../../../src/detect/tail/tail-recovery.ts';

/** Requests of a window, and how many of them are slow. */
type Window = readonly [requests: number, slow: number];
/** A tenth of the requests was slow when it was opened, where a hundredth is as ever. */
const emitted = { requests: 1_000, exceedances: 100 };
const slow: Window = [20, 10];
const clear: Window = [40, 0];
const byChance: Window = [20, 1];

/** Windows of ten seconds; those with a slow request are anomalous. */
function observed(windows: readonly Window[], { isHeld = false, dispersion = 1 } = {}) {
  const recovery = new TailRecovery(0);
  windows.forEach(([requests, exceedances], i) => {
    const counts = { requests, exceedances, emitted, baselineShare: 0.01 };
    const isAnomalous = exceedances > 0;
    recovery.observe({ ...counts, endMs: (i + 1) * 10_000, dispersion, isAnomalous, isHeld });
  });
  return recovery;
}

describe('TailRecovery', () => {
  it('ends after the last slow window', () => {
    const recovery = observed([slow, slow, clear, clear, clear]);
    expect([recovery.endedAtMs, recovery.isSure(1)]).toEqual([20_000, true]);
  });

  it('is not sure while few requests speak for the baseline', () => {
    const recovery = observed([slow, slow, clear]);
    expect([recovery.endedAtMs, recovery.isSure(1)]).toEqual([20_000, false]);
    const uncertain = observed([slow, slow, clear, clear, clear], { dispersion: 3 });
    expect(uncertain.isSure(1)).toBe(false);
  });

  it('needs more requests the longer chance had time to look like recovery', () => {
    const recovery = observed([slow, slow, clear, clear, clear]);
    expect([recovery.isSure(10), recovery.isSure(1_000_000)]).toEqual([true, false]);
  });

  it('is not moved by a window that is slow by chance, and is by what is surely slow again', () => {
    expect(observed([slow, slow, clear, clear, byChance, clear]).endedAtMs).toBe(20_000);
    expect(observed([slow, slow, clear, clear, clear, slow, clear]).endedAtMs).toBe(60_000);
    expect(observed([slow, slow, clear, clear, clear, [20, 2], [20, 2]]).endedAtMs).toBe(70_000);
  });

  it('is moved by an anomalous window in which another stage of the cause exceeds', () => {
    expect(observed([slow, slow, clear, byChance, clear], { isHeld: true }).endedAtMs).toBe(40_000);
  });

  it('is not what lasts at a third of what was emitted at its worst', () => {
    const lasting = Array.from({ length: 360 }, (): Window => [100, 3]);
    expect(observed([slow, ...lasting]).isSure(120)).toBe(false);
    const ended = observed([slow, ...lasting, ...Array<Window>(18).fill([100, 1])]);
    expect(ended.isSure(120)).toBe(true);
    expect(ended.endedAtMs).toBe(3_610_000);
  });

  it('decides in no window of a replay, and forgets nothing in it', () => {
    const recovery = observed([slow, slow, clear, clear, clear]);
    recovery.holdOpen();
    expect([recovery.endedAtMs, recovery.isSure(1)]).toEqual([20_000, false]);
    const counts = { requests: 1, exceedances: 0, emitted, baselineShare: 0.01 };
    recovery.observe({
      ...counts,
      endMs: 60_000,
      dispersion: 1,
      isAnomalous: false,
      isHeld: false,
    });
    expect([recovery.endedAtMs, recovery.isSure(1)]).toEqual([20_000, true]);
  });

  it('begins again where the event is measured again', () => {
    const recovery = observed([slow, slow, clear, clear, clear]);
    recovery.measured(50_000);
    expect([recovery.endedAtMs, recovery.isSure(1)]).toEqual([50_000, false]);
  });
});
