import { expect, it } from 'vitest';
import { renderMechanisms } from './render-mechanisms.ts';
import { runMechanism } from './run-mechanism.ts';

// The short form of `npm run eval -- mechanisms`, on a seed of its own, whose second day has both faults.
const seed = 700_007;

it.each(['cache', 'scale, a minute'])(
  'the detector, beside an oracle, on %s: finds what is four times as slow, and says what is too small',
  (family) => {
    const outcome = runMechanism({ family, seed, days: 2, faultsFromDay: 1 });
    const fourfold = outcome.faults.filter(({ kind }) => kind.startsWith('all × 4'));
    expect(fourfold.length).toBeGreaterThan(0);
    for (const { isSmall, oracleWindows, delayMs } of fourfold) {
      expect([isSmall, oracleWindows]).toEqual([false, 1]);
      expect(delayMs).toBeLessThanOrEqual(120_000);
    }
    const least = outcome.faults.filter(({ kind }) => kind.startsWith('all × 1.2'));
    expect(least.length).toBeGreaterThan(0);
    for (const { isSmall } of least) expect(isSmall).toBe(true);
    const [, head, , row] = renderMechanisms([outcome]).split('\n').slice(1);
    expect(head?.split('|')).toHaveLength(row?.split('|').length ?? 0);
    expect(row).toContain(`| ${family} | ${outcome.faults.length} |`);
  },
);
