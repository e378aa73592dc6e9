import { z } from 'zod';
import { duration } from './duration.ts';
import { slos } from './slos.ts';

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

const quantile = z.number().gt(0).lt(1);
/** Settings of detection. */
export const detect = z
  .strictObject({
    interval: duration({ minMs: 100, maxMs: 10 * minute })
      .prefault('2s')
      .describe('How often the detector polls for complete windows.'),
    window: duration({ minMs: 10 * second, maxMs: hour })
      .prefault('10s')
      .describe('Length of an evaluated window: a multiple of 10 s.'),
    session_timeout: duration({ minMs: second, maxMs: 5 * minute })
      .prefault('6s')
      .describe(
        'A leader without a heartbeat for this long is replaced by a standby. At least group.min.session.timeout.ms of the broker.',
      ),
    save_interval: duration({ minMs: second, maxMs: day })
      .prefault('5m')
      .describe('Interval of snapshots, in event time. The next leader starts from the last one.'),
    baseline: duration({ minMs: minute, maxMs: 35 * day })
      .prefault('1h')
      .describe('The recent past that a window is compared with.'),
    min_baseline_windows: z
      .int()
      .min(5)
      .max(10_000)
      .default(20)
      .describe('Minimum windows in a baseline. Until then nothing is evaluated.'),
    quantiles: z
      .array(quantile)
      .min(1)
      .default([0.95, 0.99])
      .describe('Quantiles that are evaluated.'),
    max_series: z
      .int()
      .min(1)
      .max(4_000)
      .default(2_000)
      .describe(
        'Maximum number of series evaluated, those with the most requests. A series of ten stages takes 0.9 MB.',
      ),
    page_budget_per_week: z
      .number()
      .gt(0)
      .max(10_000)
      .default(1)
      .describe('False pages accepted per week, over all series.'),
    min_effect_ratio: z
      .number()
      .min(1)
      .default(1.3)
      .describe('A tail must grow by at least this factor.'),
    min_effect_ms: z.number().min(0).default(5).describe('A tail must grow by at least this much.'),
    min_effect_of_total: z
      .number()
      .min(0)
      .max(1)
      .default(0.05)
      .describe("A stage's tail must grow by at least this part of the same quantile of total."),
    min_drift_ratio: z
      .number()
      .min(1.05)
      .default(1.3)
      .describe('A day must be slower than the same hours a week before by at least this factor.'),
    min_requests: z
      .int()
      .min(1)
      .default(30)
      .describe('Minimum requests of an anomaly, over all windows that show it.'),
    min_cold_start_ratio: z
      .number()
      .min(1)
      .default(2)
      .describe('The part of requests that are cold starts must grow by at least this factor.'),
    min_cold_start_rate: z
      .number()
      .gt(0)
      .max(1)
      .default(0.05)
      .describe('Cold starts must also grow by at least this part of all requests: 0.05 is 5 %.'),
    min_error_ratio: z
      .number()
      .min(1)
      .default(2)
      .describe('The part of requests that fail must grow by at least this factor.'),
    min_error_rate: z
      .number()
      .gt(0)
      .max(1)
      .default(0.01)
      .describe('The part of requests that fail must grow by at least this much: 0.01 is 1 %.'),
    min_traffic_drop: z
      .number()
      .min(0.1)
      .max(0.95)
      .default(0.5)
      .describe('A model must lose at least this part of its forecast requests.'),
    no_data_after: duration({ minMs: minute, maxMs: day })
      .prefault('2m')
      .describe('How long a model must receive no requests before `no_data` opens.'),
    pipeline_after: duration({ minMs: second, maxMs: day })
      .prefault('60s')
      .describe('How long windows may be behind before a `pipeline` event opens.'),
    slos,
    resolve_windows: z
      .int()
      .min(1)
      .max(1_000)
      .default(18)
      .describe('Consecutive clear windows that resolve an anomaly.'),
    rebaseline_after: duration({ minMs: minute, maxMs: 35 * day })
      .prefault('2d')
      .describe(
        'An anomaly that lasts this long becomes the baseline, and is resolved. At least `baseline`.',
      ),
    group_by: z
      .enum(['cause', 'model', 'series'])
      .default('cause')
      .describe(
        'Series that share a page: all that one cause affects, those of one model, or each series alone.',
      ),
  })
  .refine((value) => value.window % (10 * second) === 0, {
    path: ['window'],
    error: 'must be a multiple of 10s',
  })
  .prefault({})
  .describe('When a tail or a rate is anomalous.');
