import { describe, expect, it } from 'vitest';
import {
  type Completeness,
  nothingWrong,
} from '../../../../src/roles/detect/completeness/completeness.ts';
import { Problem } from '../../../../src/roles/http/problem.ts';
import { type AutoscaleSources, autoscale } from '../../../../src/roles/serve/api/autoscale.ts';

const nowMs = Date.UTC(2026, 10, 1, 12);
const query = { model: 'ranker', stage: 'queue', objectiveMs: 50, windowMs: 60_000 };
const fresh: Completeness = {
  ...nothingWrong,
  completeMs: nowMs - 12_000,
  knownMs: nowMs - 1_000,
  hasAllTraffic: true,
};

function sources(changed: Partial<AutoscaleSources>, completeness: Partial<Completeness> = {}) {
  const ranges: string[] = [];
  const all: AutoscaleSources = {
    nowMs: () => nowMs,
    completeness: async () => ({ ...fresh, ...completeness }),
    load: async (fromMs, toMs) => {
      ranges.push(`${(fromMs - nowMs) / 1000} ${(toMs - nowMs) / 1000}`);
      return { requests: 600, quantileMs: 75 };
    },
    isKnown: async () => true,
    hasEvents: async () => true,
    silence: async () => undefined,
    ...changed,
  };
  return { all, ranges };
}

const nothing = { load: async () => ({ requests: 0, quantileMs: undefined }) };
const problemOf = async (...given: Parameters<typeof sources>): Promise<Problem> => {
  const error = await autoscale(query, sources(...given).all).catch((each: unknown) => each);
  if (!(error instanceof Problem)) throw new Error(`no problem: ${JSON.stringify(error)}`);
  return error;
};

describe('an autoscaler', () => {
  it.each<[string, Parameters<typeof sources>, string]>([
    [
      'ClickHouse is away',
      [{}, { storeOutage: { sinceMs: nowMs, reason: 'connect ECONNREFUSED', error: 1 } }],
      'The load is not known: ClickHouse does not respond.',
    ],
    [
      'windows are old',
      [
        {},
        {
          completeMs: nowMs - 200_000,
          knownMs: undefined,
          behind: [{ name: 't/0', behindMs: 1, lagMessages: 9, isGivenUp: false }],
        },
      ],
      'The load of the last 200 s is not known: 9 messages of t/0 wait to be stored.',
    ],
    [
      'nothing was ever stored',
      [{}, { completeMs: Number.NEGATIVE_INFINITY, knownMs: undefined }],
      'The load is not known: no event is stored.',
    ],
    [
      'there are no requests and part of the traffic is missing',
      [nothing, { hasAllTraffic: false, kafkaOutage: { sinceMs: nowMs, reason: 'no broker' } }],
      'The load of the last 1 s is not known: Kafka does not respond.',
    ],
    [
      'nobody has ever asked the model',
      [{ ...nothing, isKnown: async () => false }],
      'The load is not known: no request of model ranker had a stage queue between a week and a day ago, so its silence may be dead producers.',
    ],
    [
      'no event of any model arrives: producers may be dead',
      [{ ...nothing, hasEvents: async () => false }, { completeMs: nowMs - 3_600_000 }],
      'The load is not known: no event of any model arrived from 2026-11-01T11:58:50.000Z to 2026-11-01T11:59:50.000Z. Either nothing was asked, or the producers do not run.',
    ],
    [
      'the detector holds the silence for abnormal',
      [
        {
          ...nothing,
          silence: async () => ({ id: 'a1', started_at: '2026-11-01T11:50:00.000Z' }),
        },
      ],
      'The load is not known: the detector expects requests of model ranker, and has had none since 2026-11-01T11:50:00.000Z (anomaly a1).',
    ],
  ])('gets 503, never 0, where %s', async (_, given, detail) => {
    const problem = await problemOf(...given);
    expect([problem.status, problem.message]).toEqual([503, detail]);
  });

  it('gets the quantile over its objective', async () => {
    const { all, ranges } = sources({});
    expect(await autoscale(query, all)).toEqual({
      value: 1.5,
      quantile_ms: 75,
      objective_ms: 50,
      requests: 600,
      from: '2026-11-01T11:58:50.000Z',
      to: '2026-11-01T11:59:50.000Z',
    });
    expect(ranges).toEqual(['-70 -10']);
  });

  it('gets 0 where nothing was asked and events of others arrive', async () => {
    const asked: string[] = [];
    const { all } = sources({
      ...nothing,
      hasEvents: async (fromMs, toMs) => {
        asked.push(`${(fromMs - nowMs) / 1000} ${(toMs - nowMs) / 1000}`);
        return true;
      },
    });
    expect((await autoscale(query, all)).value).toBe(0);
    // Events of another time prove nothing of this one.
    expect(asked).toEqual(['-70 -10']);
  });
});
