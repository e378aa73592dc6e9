import { describe, expect, it } from 'vitest';
import { Random } from '../../../src/generate/random.ts';
import { windowsPerDay } from '../null-families.ts';
import { mechanismFaultKinds, mechanismFaults } from './mechanism-faults.ts';
import { mechanisms } from './mechanisms.ts';

describe('mechanisms', () => {
  const drawn = mechanisms.filter((each) => 'traffic' in each);

  it.each(drawn)(
    '$name draws the same again, and with a fault only the slow requests differ',
    (each) => {
      const fault = {
        ...{ kind: 'all × 4', stage: each.stage, share: 0.5, from: 2_400, to: 2_500 },
        factorAt: () => 4,
      };
      const [calm, again, faulty] = [1, 2, 3].map(() => each.traffic(new Random('same')));
      let slower = 0;
      let equal = 0;
      for (let window = 0; window < 2_500; window++) {
        const a = calm?.(window, undefined);
        expect(again?.(window, undefined)).toEqual(a);
        const b = faulty?.(window, window < fault.from ? undefined : fault);
        if (window < fault.from) expect(b).toEqual(a);
        const [before, after] = [a, b].map((one) => one?.durations.get(each.stage) ?? []);
        expect(after?.length).toBe(before?.length);
        for (const [i, ms] of (after ?? []).entries()) {
          if (ms > (before?.[i] as number)) slower++;
          else equal++;
        }
      }
      if (each.name !== 'two a minute') expect(slower).toBeGreaterThan(100);
      expect(equal).toBeGreaterThan(slower);
    },
  );

  it('have each kind of fault once before any comes again, and at most one at a time', () => {
    const faults = mechanismFaults('forward', windowsPerDay, 10 * windowsPerDay, new Random('f'));
    const kinds = faults.slice(0, mechanismFaultKinds.length).map(({ kind }) => kind);
    expect(kinds.toSorted()).toEqual(mechanismFaultKinds.toSorted());
    for (const [i, { to }] of faults.entries()) {
      expect(faults[i + 1]?.from ?? Number.POSITIVE_INFINITY).toBeGreaterThan(to);
    }
  });
});
