import { describe, expect, it } from 'vitest';
import { anomalyFixture } from '../../contract/anomaly-fixture.ts';
import { faultCases, isMixRight } from './fault-cases.ts';
import { renderKinds } from './render-kinds.ts';
import type { KindOutcome } from './run-kinds.ts';

const found = (name: string, delayMs: number, changed: Partial<KindOutcome> = {}): KindOutcome => ({
  ...{ name, emitted: [], delayMs, isKind: true, isStage: true, namesCause: true },
  ...{ isMixRight: true, pages: 1, resolves: 1, ...changed },
});
const missed: KindOutcome = {
  ...{ name: 'errors', emitted: [], delayMs: undefined, isKind: false },
  ...{ isStage: undefined, namesCause: undefined, isMixRight: false, pages: 0, resolves: 0 },
};

describe('the table of a fleet with all faults', () => {
  const text = renderKinds([
    {
      ...{ seed: 1, falsePages: ['one'], hours: 24, seriesHours: 168 * 8 },
      outcomes: [
        found('one bad host', 22_000),
        found('one bad host', 12_000, { namesCause: false, pages: 2, resolves: 2 }),
        found('one bad host', 62_000, { isStage: false }),
        found('errors', 42_000, { isStage: undefined, namesCause: undefined }),
        missed,
      ],
    },
    { seed: 2, calmDays: 2, falsePages: [], hours: 48, seriesHours: 168 * 12, outcomes: [] },
  ]);

  it('has the events, their delays, and the named causes', () => {
    expect(text).toContain('| one bad host | 3 | 3 | 22 | 62 | 2 of 3 | 2 of 3 | 1.33 | 1 |\n');
    expect(text).toContain('| errors | 2 | 1 | 42 | 42 | – | – | 1 | 1 |\n');
    expect(text).toContain('| a queue builds up | 0 | 0 | – | – | – | – | – | – |\n');
    expect(text).toContain('| **all** | 5 | 4 | 22 | 62 | 2 of 3 | 2 of 3 | 1.25 | 1 |\n');
  });

  it('counts false pages by series and week', () => {
    expect(text).toContain(
      'While nothing was wrong: 1 false pages in 3.0 days of the fleet, which are 20.0 series-weeks; 50 per 1,000 of these (at most 279, 95 %).\n',
    );
  });
});

describe('the faults of a fleet', () => {
  const caseOf = (name: string) => {
    const found = faultCases.find((each) => each.name === name);
    if (found === undefined) throw new Error(name);
    return found;
  };

  it('count only mix as mix', () => {
    const [slow, mix] = [
      anomalyFixture({ bottleneck: 'compute' }),
      anomalyFixture({ bottleneck: 'traffic_mix' }),
    ];
    expect(isMixRight(caseOf('larger requests'), mix)).toBe(true);
    expect(isMixRight(caseOf('larger requests'), slow)).toBe(false);
    expect(isMixRight(caseOf('one bad host'), slow)).toBe(true);
    expect(isMixRight(caseOf('one bad host'), mix)).toBe(false);
  });

  it('name a version by the series, or by the common value of several', () => {
    const { namesCause } = caseOf('a bad new version');
    const scope = {
      ...{ affected: 2, unresolved: 2, total: 4, values: [] },
      common: [{ dimension: 'version' as const, value: '2026-11-01' }],
    };
    expect(namesCause?.(anomalyFixture({ version: '2026-11-01' }))).toBe(true);
    expect(namesCause?.(anomalyFixture({ version: '2026-10-15' }))).toBe(false);
    expect(namesCause?.(anomalyFixture({ version: '2026-10-15', scope }))).toBe(true);
    expect(namesCause?.(anomalyFixture({ scope: { ...scope, common: [] } }))).toBe(false);
  });
});
