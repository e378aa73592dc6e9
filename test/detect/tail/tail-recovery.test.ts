import { describe, expect, it } from 'vitest';
import { TailRecovery } from '../../../src/detect/tail/tail-recovery.ts';

/** Windows of ten seconds by their log-likelihood ratio; those above 0 are anomalous. */
function observed(ratios: readonly number[], { isHeld = false, dispersion = 1 } = {}) {
  const recovery = new TailRecovery();
  ratios.forEach((logRatio, i) => {
    const endMs = (i + 1) * 10_000;
    recovery.observe({ endMs, logRatio, dispersion, isAnomalous: logRatio > 0, isHeld });
  });
  return { endedAtMs: recovery.endedAtMs, isSure: recovery.isSure };
}

describe('TailRecovery', () => {
  it('ends after the last slow window', () => {
    expect(observed([20, 20, -3, -3, -3])).toEqual({ endedAtMs: 20_000, isSure: true });
  });

  it('is not sure while few requests speak for the baseline', () => {
    expect(observed([20, 20, -2, -2])).toEqual({ endedAtMs: 20_000, isSure: false });
    expect(observed([20, 20, -3, -3, -3], { dispersion: 2 }).isSure).toBe(false);
  });

  it('is not moved by a window that is slow by chance, and is by what is surely slow again', () => {
    expect(observed([20, 20, -3, -3, 2, -3]).endedAtMs).toBe(20_000);
    expect(observed([20, 20, -3, -3, -3, 5, -3]).endedAtMs).toBe(60_000);
    expect(observed([20, 20, -3, -3, -3, 2, 3]).endedAtMs).toBe(70_000);
  });

  it('is moved by an anomalous window in which another stage of the cause exceeds', () => {
    expect(observed([20, 20, -3, 1, -3], { isHeld: true }).endedAtMs).toBe(40_000);
  });
});
