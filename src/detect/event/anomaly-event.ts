import { z } from 'zod';
import { dimensions } from '../../base/dimensions.ts';

const time = z.iso.datetime();
const milliseconds = z.number();
const share = z.number();

const dimension = z.enum(dimensions).describe('One of the dimensions.');

const evidence = z
  .strictObject({
    test: z
      .enum(['likelihood_ratio', 'silence', 'burn_rate', 'hourly_ratios', 'arrivals'])
      .describe(
        'Test that p_value belongs to. With `burn_rate` and `arrivals` p_value says nothing: they count.',
      ),
    p_value: z
      .number()
      .min(0)
      .max(1)
      .describe('Chance of so much evidence on a usual day, at most.'),
    alpha: z.number().min(0).max(1).describe('What p_value had to be at most.'),
    windows: z.int().min(1).describe('Consecutive windows that were added up.'),
    exceedances: z
      .number()
      .min(0)
      .describe(
        'Requests above baseline_ms; of a `rate`: those it counts; of a `drift`: slower hours.',
      ),
    expected: z.number().min(0).describe('Requests, or hours, that usually are.'),
    dispersion: z.number().min(1).describe('Variance against that of independent requests.'),
    measured_stage: z.string().describe('Stage whose quantile observed_ms is; often `total`.'),
    baseline_windows: z.int().min(0).describe('Windows merged into the baseline.'),
    baseline_from: time.describe('Start of the baseline.'),
    baseline_to: time.describe('End of the baseline.'),
    baseline_of: z
      .array(z.strictObject({ dimension, value: z.string().describe('Its value.') }))
      .optional()
      .describe(
        'Only where the series is too young for a baseline of its own: what tells the series whose baseline it is from it.',
      ),
  })
  .describe('Why it is believed.');

const rate = z
  .strictObject({
    unit: z
      .enum([
        'failures per request',
        'cold starts per request',
        'requests per second',
        'errors per request',
      ])
      .describe('What is counted, per what.'),
    observed: z.number().min(0).describe('It, in the anomalous windows.'),
    baseline: z.number().min(0).describe('What it usually is; what the objective allows.'),
    ratio: z.number().min(0).describe('observed / baseline.'),
    interval: z
      .tuple([z.number(), z.number()])
      .describe('95 % interval of observed, widened by the dispersion.'),
  })
  .describe('What is anomalous where that is no duration; absent from `tail_shift`.');

const slo = z
  .strictObject({
    name: z.string().describe('Of the objective, as configured.'),
    objective: share.describe('The part of requests that shall be good.'),
    threshold_ms: milliseconds.describe('A request that takes longer, or fails, is bad.'),
    burn_rate: z
      .number()
      .describe('How fast the budget is used at least, by the rule that says so.'),
    long_ms: milliseconds.describe('Over so long, which `rate` is of.'),
    short_ms: milliseconds.describe('And still over the last so long.'),
  })
  .describe('The objective whose budget is used too fast; only with `slo_burn`.');

const blamed = z.strictObject({
  stage: z.string().describe('Stage, or `unaccounted` for what no stage measured.'),
  excess_ms: milliseconds.describe('How much more the slowest requests spend in it on average.'),
  share: share.describe('Part of the whole excess; all shares sum to 1, one can be negative.'),
});

const scope = z
  .strictObject({
    affected: z.int().min(2).describe('Series that it has affected since it began.'),
    unresolved: z.int().min(0).describe('Of these, series that have not recovered.'),
    total: z
      .int()
      .min(2)
      .describe('Series of the same models with enough traffic of late to be judged.'),
    common: z
      .array(z.strictObject({ dimension, value: z.string().describe('Its value.') }))
      .describe('What all of them have and others of these models do not.'),
    values: z
      .array(
        z.strictObject({
          dimension,
          value: z.string().describe('Its value.'),
          affected: z.int().min(1).describe('Series with the value that it has affected.'),
          total: z.int().min(1).describe('All series with the value.'),
        }),
      )
      .describe('The same by value, of dimensions that differ; five values of each at most.'),
  })
  .describe('Only where one cause hits several series: how far it reaches.');

const member = z.strictObject({
  id: z.string().describe("The series' own anomaly, in the table."),
  service: z.string().describe('Dimension.'),
  model: z.string().describe('Dimension.'),
  version: z.string().describe('Dimension.'),
  request_type: z.string().describe('Dimension.'),
  region: z.string().describe('Dimension.'),
  host: z.string().describe('Dimension.'),
  tenant: z.string().describe('Dimension.'),
  cold_start: z.boolean().describe('Dimension.'),
  stage: z.string().describe('Stage to blame there.'),
  severity: z.enum(['critical', 'warning', 'info']).describe('Of this series alone.'),
  observed_ms: milliseconds.describe('As of the event, for this series.'),
  baseline_ms: milliseconds.describe('As of the event, for this series.'),
  ratio: z.number().describe('observed_ms / baseline_ms.'),
  rate: rate.optional(),
  started_at: time.describe('Start of its first anomalous window.'),
  resolved_at: time.nullable().describe('When this series was back; null before.'),
});

const part = z.number().min(0).max(1);

const driver = z.strictObject({
  facet: z.string().describe('host, cache_hit, batch_size …: one of `windows.facets`.'),
  value: z.string().describe('Its value; numbers by powers of two.'),
  share_of_slow: part.describe('Part of the slow requests that have it.'),
  share_of_all: part.describe('Part of all requests that have it.'),
  baseline_share_of_all: part.optional().describe('share_of_all in the baseline.'),
  slow_rate: part.describe('Part of the requests that have it that is slow.'),
  slow_rate_of_others: part.describe('Part of the other requests that is slow.'),
  baseline_slow_rate: part.describe('slow_rate in the baseline.'),
  baseline_slow_rate_of_others: part.describe('slow_rate_of_others in the baseline.'),
});

/**
 * Schema of the event for the topic, webhooks and the `anomalies` table, from which a detector restores.
 * docs/reference/anomaly-event.md explains each field; fields may be added, never changed.
 */
export const anomalyEventSchema = z
  .strictObject({
    id: z.string().min(1).describe('One episode. The same in every event of it.'),
    revision: z.int().min(1).describe('1 opens; each later event of the episode is one more.'),
    dedup_key: z.string().min(1).describe('One series and kind. Episodes in a row share it.'),
    group_key: z.string().min(1).describe('Kind, model and stage: what likely has one cause.'),
    state: z.enum(['opened', 'updated', 'resolved']).describe('What happened.'),
    severity: z.enum(['critical', 'warning', 'info']).describe('Never falls within an episode.'),
    kind: z
      .enum([
        'tail_shift',
        'slo_burn',
        'error_rate',
        'cold_starts',
        'throughput_drop',
        'no_data',
        'drift',
        'pipeline',
      ])
      .describe('What is anomalous; `pipeline` is tailmark itself, not the models.'),
    service: z.string().describe("Dimension of the series; '' if it is not configured."),
    model: z.string().describe('Dimension of the series.'),
    version: z.string().describe('Dimension of the series.'),
    request_type: z.string().describe('Dimension of the series.'),
    region: z.string().describe('Dimension of the series.'),
    host: z.string().describe('Dimension of the series.'),
    tenant: z.string().describe('Dimension of the series.'),
    cold_start: z.boolean().describe('Dimension of the series.'),
    stage: z.string().describe('Stage to blame: the first of `blame`.'),
    quantile: z.number().gt(0).lt(1).describe('Which tail, 0.99 for p99.'),
    observed_ms: milliseconds.describe('The quantile in the anomalous windows.'),
    interval_ms: z
      .tuple([milliseconds, milliseconds])
      .describe('95 % interval of observed_ms, widened by the dispersion.'),
    baseline_ms: milliseconds.describe(
      'The quantile in the baseline; later windows do not move it.',
    ),
    ratio: z.number().describe('observed_ms / baseline_ms.'),
    requests: z.int().min(0).describe('Requests in the anomalous windows.'),
    rate: rate.optional(),
    affected_share: share
      .optional()
      .describe('Part of the requests of all series that is slower, or fails, because of it.'),
    slo: slo.optional(),
    evidence,
    blame: z.array(blamed).describe('The excess of the slowest requests, largest part first.'),
    bottleneck: z
      .enum([
        'queue',
        'compute',
        'feature',
        'network',
        'downstream',
        'serialization',
        'contention',
        'cold_start',
        'traffic_mix',
        'mixed',
        'unknown',
      ])
      .describe('Class of the cause.'),
    drivers: z
      .array(driver)
      .optional()
      .describe('What slow requests have in common, five values at most.'),
    mix_share: part
      .optional()
      .describe('Of the rise of slow requests, the part that comes of more large ones.'),
    exemplars: z.array(z.string()).describe('Trace ids of the slowest requests.'),
    started_at: time.describe('Start of the first anomalous window.'),
    detected_at: time.describe('When the episode was opened.'),
    emitted_at: time.describe('When this event was decided.'),
    resolved_at: time.nullable().describe('When the episode was resolved; null before.'),
    resolution: z
      .enum(['recovered', 'no_traffic', 'rebaselined'])
      .nullable()
      .describe('Why it was resolved; null before.'),
    summary: z.string().describe('One sentence for people.'),
    sql: z.string().describe('A query against the latency tables that shows it.'),
    runbook_url: z.string().nullable().describe('`alert.runbook_url`, or null.'),
    scope: scope.optional(),
    members: z
      .array(member)
      .optional()
      .describe('Series that it hits, those that are open and worst first; ten at most.'),
    incident_id: z
      .string()
      .optional()
      .describe('Only in the table: the anomaly over several series that this one is part of.'),
  })
  .describe('tailmark anomaly event, version 1');

export type AnomalyEvent = z.output<typeof anomalyEventSchema>;
export type Blamed = AnomalyEvent['blame'][number];
export type Bottleneck = AnomalyEvent['bottleneck'];
export type Scope = z.output<typeof scope>;
export type ScopeMember = z.output<typeof member>;
export type Severity = AnomalyEvent['severity'];
export type Rate = NonNullable<AnomalyEvent['rate']>;
export type Resolution = NonNullable<AnomalyEvent['resolution']>;
