import { expect, it } from 'vitest';
import { EvidencePot } from '../../src/compare/evidence-pot.ts';
import { logSum, PairEvidence } from '../../src/compare/pair-evidence.ts';

/** Evidence of some minutes in which the first version has more slow requests, or fewer. */
function evidenceOf(minutes: number, isWorse: boolean): PairEvidence {
  const evidence = new PairEvidence();
  const [more, fewer] = [20, 5].map((slow) => ({ slow, requests: 100 })) as [
    { slow: number; requests: number },
    { slow: number; requests: number },
  ];
  for (let i = 0; i < minutes; i++) {
    if (isWorse) evidence.observe(more, fewer);
    else evidence.observe(fewer, more);
  }
  return evidence;
}

it('an empty pot has no capital', () => {
  const pot = new EvidencePot();
  expect([pot.size, pot.log]).toEqual([0, Number.NEGATIVE_INFINITY]);
  expect(logSum([])).toBe(Number.NEGATIVE_INFINITY);
});

it('the capital is the sum of what each bet has made of its part', () => {
  const [good, bad] = [evidenceOf(5, true), evidenceOf(5, false)];
  const pot = new EvidencePot();
  pot.put([good, bad, new PairEvidence(), new PairEvidence()], 0);
  const expected = (Math.exp(good.log) + Math.exp(bad.log) + 2) / 4;
  expect(Math.exp(pot.log)).toBeCloseTo(expected, 9);
});

it('what moves to another pot is not lost, and multiplies there', () => {
  const [from, to] = [new EvidencePot(), new EvidencePot()];
  const later = new PairEvidence();
  from.put([evidenceOf(5, true), evidenceOf(5, false)], 0);
  const before = from.log;
  to.put([later, new PairEvidence()], from.take(0.25));
  expect(logSum([from.log, to.log])).toBeCloseTo(before, 9);
  expect(to.log - before).toBeCloseTo(Math.log(0.25), 9);
  const parts = { kept: 0.75 * Math.exp(before), moved: 0.25 * Math.exp(before) };
  later.observe({ slow: 20, requests: 100 }, { slow: 5, requests: 100 });
  const expected = parts.kept + (parts.moved / 2) * (1 + Math.exp(later.log));
  expect(Math.exp(logSum([from.log, to.log]))).toBeCloseTo(expected, 6);
});

it('capital that moves before a fair minute stays fair: the mean over a swap is the same', () => {
  const meanAfter = (isMoved: boolean) => {
    const outcomes = [true, false].map((isWorse) => {
      const [from, to] = [new EvidencePot(), new EvidencePot()];
      const [old, fresh] = [evidenceOf(4, true), new PairEvidence()];
      from.put([old], 0);
      if (isMoved) to.put([fresh], from.take(0.5));
      // One minute, or the same with the versions swapped, moves both bets at once.
      const [a, b] = isWorse ? [20, 5] : [5, 20];
      for (const bet of [old, fresh]) {
        bet.observe({ slow: a, requests: 100 }, { slow: b, requests: 100 });
      }
      return Math.exp(logSum([from.log, to.log]));
    });
    return ((outcomes[0] as number) + (outcomes[1] as number)) / 2;
  };
  const before = Math.exp(evidenceOf(4, true).log);
  expect(meanAfter(false)).toBeCloseTo(before, 9);
  expect(meanAfter(true)).toBeCloseTo(before, 9);
});
