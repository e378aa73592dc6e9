import fc from 'fast-check';
import type { Notice } from '../../../../src/alert/receiver.ts';
import {
  type AnomalyEvent,
  anomalyEventSchema,
  severities,
} from '../../../../src/contract/anomaly-event.ts';
import { hostileNames, resolvedEvent, richEvent } from './notices.ts';

export const kinds = anomalyEventSchema.shape.kind.options;
export const changes = ['opened', 'risen', 'updated', 'resolved', 'past'] as const;

const name = fc.oneof(
  { weight: 2, arbitrary: fc.constantFrom(...hostileNames) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 100 }) },
  { weight: 1, arbitrary: fc.constantFrom('', 'ranker', 'eu-west-1') },
);
const amount = fc.oneof(
  fc.constantFrom(0, 0.04, 1, 412, 9.9e6),
  fc.double({ min: 0, max: 1e12, noNaN: true }),
);
const signed = fc.double({ min: -1e9, max: 1e9, noNaN: true });
const part = fc.double({ min: 0, max: 1, noNaN: true });
const dimension = fc.constantFrom('version' as const, 'model' as const, 'cold_start' as const);
const time = fc
  .integer({ min: Date.UTC(2020, 0), max: Date.UTC(2040, 0) })
  .map((ms) => new Date(ms).toISOString());

const series = fc.record({
  service: name,
  model: name,
  version: name,
  request_type: name,
  region: name,
  host: name,
  tenant: name,
  cold_start: fc.boolean(),
});

const rate = fc.record({
  unit: fc.constantFrom(
    'failures per request' as const,
    'cold starts per request' as const,
    'requests per second' as const,
    'errors per request' as const,
  ),
  observed: amount,
  baseline: amount,
  ratio: amount,
  interval: fc.tuple(amount, amount),
});

const driver = fc.record({
  facet: name,
  value: name,
  share_of_slow: part,
  share_of_all: part,
  baseline_share_of_all: part,
  slow_rate: part,
  slow_rate_of_others: part,
  baseline_slow_rate: part,
  baseline_slow_rate_of_others: part,
});

const scope = fc.record({
  affected: fc.integer({ min: 2, max: 500 }),
  unresolved: fc.integer({ min: 0, max: 500 }),
  total: fc.integer({ min: 2, max: 1000 }),
  common: fc.array(fc.record({ dimension, value: name }), { maxLength: 3 }),
  values: fc.array(
    fc.record({ dimension, value: name, affected: fc.constant(1), total: fc.constant(2) }),
    { maxLength: 6 },
  ),
});

const member = fc
  .record({
    id: fc.constant('m'),
    stage: name,
    severity: fc.constantFrom(...severities),
    observed_ms: amount,
    baseline_ms: amount,
    ratio: amount,
    started_at: time,
    resolved_at: fc.option(time),
  })
  .chain((fields) => series.map((of) => ({ ...of, ...fields })));

const optional = fc.record(
  {
    rate,
    affected_share: part,
    slo: fc.record({
      name,
      objective: part,
      threshold_ms: amount,
      burn_rate: amount,
      long_ms: amount,
      short_ms: amount,
    }),
    drivers: fc.array(driver, { maxLength: 5 }),
    mix_share: part,
    scope,
    members: fc.array(member, { maxLength: 10 }),
  },
  { requiredKeys: [] },
);

/** Any event that the schema allows, its names chosen by an attacker. Keys are ours, so they are plain. */
export const anyEvent: fc.Arbitrary<AnomalyEvent> = fc
  .record({
    kind: fc.constantFrom(...kinds),
    severity: fc.constantFrom(...severities),
    of: series,
    optional,
    stage: name,
    measured: fc.oneof(name, fc.constant('total')),
    blame: fc.array(fc.record({ stage: name, excess_ms: signed, share: signed }), { maxLength: 9 }),
    bottleneck: fc.constantFrom(...anomalyEventSchema.shape.bottleneck.options),
    exemplars: fc.array(name, { maxLength: 5 }),
    amounts: fc.tuple(amount, amount, amount, amount, amount),
    started_at: time,
    emitted_at: time,
    resolution: fc.constantFrom('recovered', 'no_traffic', 'rebaselined'),
    summary: name,
    sql: fc.oneof(
      { weight: 9, arbitrary: name },
      { weight: 1, arbitrary: fc.constant(`SELECT '${'x'.repeat(600_000)}'`) },
    ),
    group: name,
  })
  .map(({ of, optional: some, measured, amounts, group, resolution, ...fields }) => {
    const [observed_ms, low, high, baseline_ms, ratio] = amounts;
    return {
      ...richEvent,
      ...of,
      ...withoutOptional,
      ...fields,
      ...some,
      ...{ observed_ms, baseline_ms, ratio },
      interval_ms: [low, high],
      group_key: `g${group}`,
      evidence: { ...richEvent.evidence, measured_stage: measured },
      resolution: resolution as AnomalyEvent['resolution'],
    };
  });

/** The rich event has all of these. */
const withoutOptional = Object.fromEntries(
  ['affected_share', 'drivers', 'mix_share', 'scope', 'members'].map((key) => [key, undefined]),
);

/** Any notice of any event. */
export const anyNotice: fc.Arbitrary<Notice> = fc
  .record({
    event: anyEvent,
    change: fc.constantFrom(...changes),
    severities: fc.uniqueArray(fc.constantFrom(...severities), { minLength: 1 }),
    isTest: fc.boolean(),
  })
  .map(({ event, change, ...rest }) => {
    const isEnd = change === 'resolved' || change === 'past';
    const { state, resolved_at } = resolvedEvent;
    return {
      ...rest,
      change,
      memory: '',
      event: isEnd ? { ...event, state, resolved_at } : { ...event, resolution: null },
    };
  });
