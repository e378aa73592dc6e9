import { z } from 'zod';
import { anomalyKinds } from '../config/alert.ts';
import { dimensionName } from '../config/setting-types.ts';
import { stageClasses } from '../config/stages.ts';

const time = z.iso.datetime();
const milliseconds = z.number();
const share = z.number();
const part = z.number().min(0).max(1);
const amount = z.number().min(0);
const key = z.string().min(1);

const dimensionValue = {
  dimension: dimensionName.describe('One of the dimensions; `attributes.NAME` for an own one.'),
  value: z.string().describe('Its value.'),
};

const seriesFields = (description: string) => ({
  service: z.string().describe(description),
  model: z.string().describe(description),
  version: z.string().describe(description),
  request_type: z.string().describe(description),
  region: z.string().describe(description),
  host: z.string().describe(description),
  tenant: z.string().describe(description),
  cold_start: z.boolean().describe(description),
  attributes: z
    .string()
    .optional()
    .describe('Own dimensions, as `adapter=lora-7,gpu=h100`; absent where there are none.'),
});

const evidence = z
  .strictObject({
    test: z
      .enum(['likelihood_ratio', 'silence', 'burn_rate', 'hourly_ratios', 'arrivals'])
      .describe(
        'Test that p_value belongs to. `burn_rate` and `arrivals` only count: their p_value has no meaning.',
      ),
    p_value: part.describe('Upper bound of the probability of this much evidence on a normal day.'),
    alpha: part.describe('Threshold of p_value.'),
    windows: z.int().min(1).describe('Consecutive windows that were summed.'),
    exceedances: amount.describe(
      'Requests above baseline_ms; of a `rate`: the requests it counts; of a `drift`: slower hours.',
    ),
    expected: amount.describe('Exceedances expected from the baseline.'),
    dispersion: z.number().min(1).describe('Variance over that of independent requests.'),
    measured_stage: z.string().describe('Stage whose quantile observed_ms is; often `total`.'),
    baseline_windows: z.int().min(0).describe('Windows merged into the baseline.'),
    baseline_from: time.describe('Start of the baseline.'),
    baseline_to: time.describe('End of the baseline.'),
    baseline_of: z
      .array(z.strictObject(dimensionValue))
      .optional()
      .describe(
        'Only where the series has no baseline of its own yet: dimensions in which the lender of the baseline differs.',
      ),
    history_from: time
      .optional()
      .describe(
        'Only where the history before this time was not read and less than `detect.baseline` was known at the start.',
      ),
  })
  .describe('Evidence.');

const rate = z
  .strictObject({
    unit: z
      .enum([
        'failures per request',
        'cold starts per request',
        'requests per second',
        'errors per request',
      ])
      .describe('Unit of observed and baseline.'),
    observed: amount.describe('Value in the anomalous windows.'),
    baseline: amount.describe('Value in the baseline; of an objective, the allowed value.'),
    ratio: amount.describe('observed / baseline.'),
    interval: z
      .tuple([z.number(), z.number()])
      .describe('95 % interval of observed, widened by the dispersion.'),
  })
  .describe('The anomalous rate; absent from `tail_shift` and `drift`.');

const slo = z
  .strictObject({
    name: z.string().describe('Name of the objective, as configured.'),
    objective: share.describe('The part of requests that must be good.'),
    threshold_ms: milliseconds
      .optional()
      .describe('A request that takes longer or fails is bad. Absent with `all`.'),
    stage: z.string().optional().describe('Stage of the threshold; absent for `total`.'),
    all: z
      .record(z.string(), milliseconds)
      .optional()
      .describe('Thresholds by stage: a request that misses one of them or fails is bad.'),
    window_ms: milliseconds.optional().describe('Period of the budget; absent for 30 days.'),
    burn_rate: z.number().describe('Burn rate from which the rule opens.'),
    long_ms: milliseconds.describe('Long span of the rule; `rate` is over it.'),
    short_ms: milliseconds.describe('Short span of the rule, up to the event.'),
  })
  .describe('The objective whose error budget burns too fast; only with `slo_burn`.');

const blamed = z.strictObject({
  stage: z.string().describe('Stage, or `unaccounted` for time that no stage measured.'),
  class: z
    .enum(stageClasses)
    .optional()
    .describe('Class of the stage; absent where nobody classed its name, and from older events.'),
  excess_ms: milliseconds.describe(
    'How much more the slowest requests spend in it on average; of a milestone that was measured: all requests; of a part that was measured: the rise of the quantile.',
  ),
  share: share.describe(
    'Part of all that rose, 0 to 1: the shares sum to 1, and a stage that became faster has 0. In events of earlier versions a part of the excess, which may be negative or above 1.',
  ),
});

const effects = z
  .array(
    z.strictObject({
      stage: z.string().describe('`total`, or a milestone that the measured stage lies before.'),
      observed_ms: milliseconds.describe('Its same quantile in the same windows.'),
      baseline_ms: milliseconds.describe('The same in the baseline.'),
      ratio: z.number().describe('observed_ms / baseline_ms.'),
    }),
  )
  .describe('Only where a stage was measured: how what users wait for has moved with it.');

const peak = z
  .strictObject({
    observed_ms: milliseconds.describe('observed_ms at the worst of the episode.'),
    ratio: z.number().describe('observed_ms / baseline_ms of that time.'),
    rate: amount.optional().describe('With `rate`: its `observed` at that time.'),
    at: time.describe('End of the last window that it is of.'),
  })
  .describe('The worst so far; all else is as of measured_at. Absent from older events.');

const measuredAt = time
  .optional()
  .describe('End of the last window that the numbers are of; absent from older events.');

/** Number and names of the series that an incident affects. */
export const scopeSchema = z
  .strictObject({
    affected: z.int().min(2).describe('Series affected since the start.'),
    unresolved: z.int().min(0).describe('Affected series that have not recovered.'),
    total: z
      .int()
      .min(2)
      .describe(
        'Series of the same models that are evaluated: enough recent traffic, and a place.',
      ),
    common: z
      .array(z.strictObject(dimensionValue))
      .describe('Values that all affected series have and others of these models do not.'),
    values: z
      .array(
        z.strictObject({
          ...dimensionValue,
          affected: z.int().min(1).describe('Affected series with the value.'),
          total: z.int().min(1).describe('All series with the value.'),
        }),
      )
      .describe(
        'Affected series by value, of dimensions that differ; at most five values of each.',
      ),
  })
  .describe('Only where one cause affects several series: how many, and which.');

/** A series of an incident. */
export const scopeMemberSchema = z.strictObject({
  id: z.string().describe("The series' own anomaly, in the table."),
  ...seriesFields('Dimension.'),
  stage: z.string().describe('Stage to blame in this series.'),
  measured_stage: z
    .string()
    .optional()
    .describe('Stage whose quantile observed_ms is; absent from older events.'),
  quantile: z.number().optional().describe('Of observed_ms; absent from older events.'),
  severity: z.enum(['critical', 'warning', 'info']).describe('Severity of this series alone.'),
  observed_ms: milliseconds.describe('For this series, as of measured_at.'),
  baseline_ms: milliseconds.describe('For this series, as of measured_at.'),
  ratio: z.number().describe('observed_ms / baseline_ms.'),
  rate: rate.optional(),
  measured_at: measuredAt,
  peak: peak.optional(),
  started_at: time.describe('Start of its first anomalous window.'),
  ended_at: time
    .nullable()
    .optional()
    .describe('End of its last anomalous window; null while it is open, absent from older events.'),
  resolved_at: time.nullable().describe('When this series recovered; null before.'),
});

const blame = z
  .array(blamed)
  .describe('The excess of what was measured, by stage, the largest part first.');

const bottleneck = z
  .enum([...stageClasses, 'contention', 'cold_start', 'traffic_mix', 'mixed', 'unknown'])
  .describe('Class of the cause.');

const worst = z
  .strictObject({
    interval_ms: z.tuple([milliseconds, milliseconds]).describe('Interval of its observed_ms.'),
    requests: z.int().min(0).describe('Requests in its anomalous windows.'),
    evidence,
    blame,
    effects: effects.optional(),
    bottleneck,
    sql: z.string().describe('A query that shows it.'),
  })
  .describe('With `members`: what else was measured in the first of them, the most affected.');

const driver = z.strictObject({
  facet: z.string().describe('host, cache_hit, batch_size …: one of `windows.facets`.'),
  value: z.string().describe('Its value; numbers by powers of two.'),
  share_of_slow: part.describe('Part of the slow requests with the value.'),
  share_of_all: part.describe('Part of all requests with the value.'),
  baseline_share_of_all: part.optional().describe('share_of_all in the baseline.'),
  slow_rate: part.describe('Part of the requests with the value that is slow.'),
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
    id: key.describe('The episode; the same in all its events.'),
    revision: z
      .int()
      .min(1)
      .describe('1 in `opened`, one more in each later event of the episode.'),
    dedup_key: key.describe('Series and kind; the same in consecutive episodes.'),
    group_key: key.describe('Kind, model and stage: anomalies that likely have one cause.'),
    state: z.enum(['opened', 'updated', 'resolved']).describe('State of the episode.'),
    severity: z.enum(['critical', 'warning', 'info']).describe('Never falls within an episode.'),
    severity_reason: z
      .string()
      .optional()
      .describe(
        'Only where the severity rose within the episode: the rule, in numbers of that time.',
      ),
    kind: z
      .enum(anomalyKinds)
      .describe('What is anomalous; `pipeline` is tailmark itself, not the models.'),
    ...seriesFields('Dimension of the series.'),
    service: z.string().describe("Dimension of the series; '' if it is not configured."),
    stage: z.string().describe('Stage to blame: the first of `blame`.'),
    quantile: z.number().gt(0).lt(1).describe('Quantile of the tail, 0.99 for p99.'),
    observed_ms: milliseconds.describe('The quantile in the anomalous windows.'),
    interval_ms: z
      .tuple([milliseconds, milliseconds])
      .describe('95 % interval of observed_ms, widened by the dispersion.'),
    baseline_ms: milliseconds.describe(
      'The quantile in the baseline, which is frozen while the anomaly is open.',
    ),
    ratio: z.number().describe('observed_ms / baseline_ms.'),
    requests: z.int().min(0).describe('Requests in the anomalous windows.'),
    rate: rate.optional(),
    affected_share: share
      .optional()
      .describe(
        'Part of the requests of all series that is slower or fails because of the anomaly.',
      ),
    slo: slo.optional(),
    evidence,
    blame,
    effects: effects.optional(),
    bottleneck,
    drivers: z
      .array(driver)
      .optional()
      .describe('Values more frequent among slow requests, at most five.'),
    mix_share: part
      .optional()
      .describe(
        'Part of the rise in slow requests that comes from more large requests or long answers.',
      ),
    exemplars: z.array(z.string()).describe('Trace ids of the slowest requests.'),
    started_at: time.describe('Start of the first anomalous window.'),
    detected_at: time.describe('When the episode was opened.'),
    emitted_at: time.describe('When this event was decided.'),
    measured_at: measuredAt,
    peak: peak.optional(),
    ended_at: time
      .nullable()
      .default(null)
      .describe(
        'End of the last anomalous window, some minutes before resolved_at; null while it is open, and of what is the baseline now.',
      ),
    resolved_at: time.nullable().describe('When the episode was resolved; null before.'),
    resolution: z
      .enum(['recovered', 'no_traffic', 'rebaselined'])
      .nullable()
      .describe('Why it was resolved; null before.'),
    recovered: z
      .strictObject({ stage: z.string(), quantile: z.number() })
      .optional()
      .describe(
        'The tail whose recovery ended it, where another anomaly keeps measured_stage slow.',
      ),
    summary: z.string().describe('One sentence for people.'),
    sql: z.string().describe('A query of the latency tables that shows the anomaly.'),
    runbook_url: z.string().nullable().describe('`alert.runbook_url`, or null.'),
    scope: scopeSchema.optional(),
    members: z
      .array(scopeMemberSchema)
      .optional()
      .describe('Affected series, at most ten: open ones first, then by affected requests.'),
    worst: worst.optional(),
    incident_id: z
      .string()
      .optional()
      .describe('Only in the table: the incident that this anomaly is part of.'),
  })
  .describe('tailmark anomaly event, version 1');

export type AnomalyEvent = z.output<typeof anomalyEventSchema>;
export type Blamed = AnomalyEvent['blame'][number];
export type Bottleneck = AnomalyEvent['bottleneck'];
export type Scope = z.output<typeof scopeSchema>;
export type ScopeMember = z.output<typeof scopeMemberSchema>;
export type Severity = AnomalyEvent['severity'];
export type Rate = NonNullable<AnomalyEvent['rate']>;
export type Resolution = NonNullable<AnomalyEvent['resolution']>;

/** All severities, the least severe first. */
export const severities: readonly Severity[] = ['info', 'warning', 'critical'];

/** Name of the time in the total that no stage measured, where the blame has it as a stage. */
export const unaccounted = 'unaccounted';
