import { z } from 'zod';
import { dayMs, hourMs, minuteMs, secondMs } from '../base/time.ts';
import { duration, ratio, share, whole } from './setting-types.ts';
import { slos } from './slos.ts';

const quantile = z.number().gt(0).lt(1);

export const detect = z
  .strictObject({
    interval: duration('2s', 100, 10 * minuteMs).describe(
      'How often the detector polls for complete windows.',
    ),
    window: duration('10s', 10 * secondMs, hourMs).describe(
      'Length of an evaluated window: a multiple of 10 s.',
    ),
    session_timeout: duration('6s', secondMs, 5 * minuteMs).describe(
      'A leader without a heartbeat for this long is replaced by a standby. At least group.min.session.timeout.ms of the broker.',
    ),
    save_interval: duration('5m', secondMs, dayMs).describe(
      'Interval of snapshots, in event time. The next leader starts from the last one.',
    ),
    baseline: duration('1h', minuteMs, 35 * dayMs).describe(
      'The recent past that a window is compared with.',
    ),
    min_baseline_windows: whole(20, 5, 10_000).describe(
      'Minimum windows in a baseline. Until then nothing is evaluated.',
    ),
    quantiles: z
      .array(quantile)
      .min(1)
      .default([0.95, 0.99])
      .describe('Quantiles that are evaluated.'),
    max_series: whole(2_000, 1, 4_000).describe(
      'Maximum number of series evaluated, those with the most requests. A series of ten stages takes 0.9 MB.',
    ),
    page_budget_per_week: z
      .number()
      .gt(0)
      .max(10_000)
      .default(1)
      .describe('False pages accepted per week, over all series.'),
    min_effect_ratio: ratio(1.3).describe('A tail must grow by at least this factor.'),
    min_effect_ms: z
      .number()
      .min(0)
      .default(5)
      .describe(
        'A tail must grow by at least this much; not that of a time per token, of which only the factor counts.',
      ),
    min_effect_of_total: z
      .number()
      .min(0)
      .max(1)
      .default(0.05)
      .describe(
        "A part's tail must grow by at least this part of the same quantile of total; a milestone's need not.",
      ),
    min_drift_ratio: ratio(1.3, 1.05).describe(
      'A day must be slower than the same hours a week before by at least this factor.',
    ),
    min_requests: z
      .int()
      .min(1)
      .default(30)
      .describe('Minimum requests of an anomaly, over all windows that show it.'),
    min_cold_start_ratio: ratio(2).describe(
      'The part of requests that are cold starts must grow by at least this factor.',
    ),
    min_cold_start_rate: share(0.05).describe(
      'Cold starts must also grow by at least this part of all requests: 0.05 is 5 %.',
    ),
    min_error_ratio: ratio(2).describe(
      'The part of requests that fail must grow by at least this factor.',
    ),
    min_error_rate: share(0.01).describe(
      'The part of requests that fail must grow by at least this much: 0.01 is 1 %.',
    ),
    min_traffic_drop: z
      .number()
      .min(0.1)
      .max(0.95)
      .default(0.5)
      .describe('A model must lose at least this part of its forecast requests.'),
    no_data_after: duration('2m', minuteMs, dayMs).describe(
      'How long a model must receive no requests before `no_data` opens; three times its longest normal gap if that is longer.',
    ),
    pipeline_after: duration('60s', secondMs, dayMs).describe(
      'How long windows may be behind before a `pipeline` event opens.',
    ),
    slos,
    resolve_windows: whole(18, 1, 1_000).describe(
      'Consecutive clear windows that resolve an anomaly.',
    ),
    rebaseline_after: duration('2d', minuteMs, 35 * dayMs).describe(
      'An anomaly that lasts this long becomes the baseline, and is resolved. At least `baseline`.',
    ),
    group_by: z
      .enum(['cause', 'model', 'series'])
      .default('cause')
      .describe(
        'Series that share a page: all that one cause affects, those of one model, or each series alone.',
      ),
  })
  .refine((value) => value.window % (10 * secondMs) === 0, {
    path: ['window'],
    error: 'must be a multiple of 10s',
  })
  .prefault({})
  .describe('When a tail or a rate is anomalous.');
