import { describe, expect, it } from 'vitest';
import { unmetCondition } from '../../../src/alert/routing/matches.ts';
import { isMutedBy } from '../../../src/alert/routing/muted.ts';
import type { ReceiverMatch } from '../../../src/config/alert.ts';
import { configSchema } from '../../../src/config/schema.ts';
import { anomalyEventSchema } from '../../../src/contract/anomaly-event.ts';
import { matchesPattern } from '../../../src/series/matches-pattern.ts';
import type { Mute } from '../../../src/sink/anomalies/mute-store.ts';
import { anomalyFixture } from '../../contract/anomaly-fixture.ts';

const all: ReceiverMatch = { severity: 'info' };

describe('a pattern', () => {
  it.each([
    ['ranker', 'ranker', true],
    ['ranker', 'ranker2', false],
    ['rank*', 'ranker', true],
    ['*er', 'ranker', true],
    ['r*k*r', 'ranker', true],
    ['r*r*r', 'rr', false],
    ['ab*ba', 'aba', false],
    ['*', '', true],
    ['a.c', 'abc', false],
    ['', 'a', false],
    ['a*', '*a', false],
  ])('%s on %s: %s', (pattern, value, expected) => {
    expect(matchesPattern(pattern, value)).toBe(expected);
  });

  it('costs little where it has many stars', () => {
    expect(matchesPattern(`${'*a'.repeat(100)}b`, 'a'.repeat(256))).toBe(false);
  });
});

describe('a receiver matches', () => {
  it.each<[Partial<ReceiverMatch>, string | undefined]>([
    [{}, undefined],
    [{ severity: 'critical' }, 'severity warning is below critical'],
    [{ kinds: ['drift'] }, 'kind tail_shift is not one of drift'],
    [{ models: ['search', 'ads*'] }, 'model ranker is not one of search, ads*'],
    [{ region: ['us-*'] }, 'region eu-west-1 is not one of us-*'],
    [{ attributes: { adapter: ['lora-*'] } }, undefined],
    [{ attributes: { gpu: ['h100'] } }, "attributes.gpu '' is not one of h100"],
    [{ models: ['rank*'], region: ['us-*', 'eu-*'], kinds: ['tail_shift'] }, undefined],
  ])('by all of %j', (match, unmet) => {
    const event = anomalyFixture({ severity: 'warning', attributes: 'adapter=lora-7' });
    expect(unmetCondition({ ...all, ...match }, event)).toBe(unmet);
  });

  it('an anomaly of several series by any of them', () => {
    const scope = {
      affected: 2,
      unresolved: 2,
      total: 4,
      common: [],
      values: [{ dimension: 'region', value: 'us-east-1', affected: 1, total: 2 }] as const,
    };
    const event = anomalyFixture({ scope: { ...scope, values: [...scope.values] } });
    expect(unmetCondition({ ...all, region: ['us-*'] }, event)).toBe(undefined);
    expect(unmetCondition({ ...all, region: ['ap-*'] }, event)).toBe(
      'region eu-west-1, us-east-1 is not one of ap-*',
    );
  });
});

describe('a mute', () => {
  const mute: Mute = {
    id: 'm',
    fromMs: 100,
    untilMs: 200,
    models: ['ranker'],
    kinds: [],
    dimensions: {},
    why: 'w',
    who: 'a',
  };
  const member = (model: string) => ({ ...anomalyFixture({ model }), rate: undefined });

  it.each([
    ['holds from its begin', {}, 100, true],
    ['does not hold before', {}, 99, false],
    ['does not hold at its end', {}, 200, false],
    ['is of the model', { models: ['search'] }, 150, false],
    ['is of the kind', { kinds: ['drift'] }, 150, false],
    ['is of the dimension', { dimensions: { region: 'us-*' } }, 150, false],
    ['may be of all models', { models: ['*'], dimensions: { region: 'eu-*' } }, 150, true],
  ] as const)('%s', (_, changed, nowMs, expected) => {
    const changedMute = { ...mute, ...changed };
    expect(isMutedBy(changedMute, anomalyFixture(), nowMs)).toBe(expected);
  });

  it('does not hold back an anomaly that affects others too', () => {
    const both = anomalyFixture({ members: [member('ranker'), member('search')] as never });
    expect(isMutedBy(mute, both, 150)).toBe(false);
    expect(isMutedBy({ ...mute, models: ['ranker', 'search'] }, both, 150)).toBe(true);
  });
});

it('has every kind and severity of anomalies, and no other', () => {
  const { kind, severity } = anomalyEventSchema.shape;
  const receiver = (match: object) => ({
    alert: { receivers: [{ type: 'webhook', name: 'a', url: 'https://a.example', match }] },
  });
  const accepts = (match: object) => configSchema.safeParse(receiver(match)).success;
  for (const each of kind.options) expect([each, accepts({ kinds: [each] })]).toEqual([each, true]);
  for (const each of severity.options)
    expect([each, accepts({ severity: each })]).toEqual([each, true]);
  expect([accepts({ kinds: ['other'] }), accepts({ severity: 'other' })]).toEqual([false, false]);
});
