import { z } from 'zod';
import {
  anomalyEventSchema,
  scopeMemberSchema,
  scopeSchema,
} from '../../contract/anomaly-event.ts';
import { answerOf, count, ms, time } from './common.ts';
import { incidentLengths } from './lengths.ts';

const headline = z
  .string()
  .describe(
    'What it is, or was before its end: a title without status and times, which a page has its own way.',
  );

/** One anomaly as it stands; one that hits several series is one. */
const anomalyRow = z.strictObject({
  id: z.string(),
  title: z.string().describe('The title of its messages.'),
  headline,
  summary: z.string(),
  model: z.string(),
  models: z.array(z.string()).describe('Models that it affects, at most five; `model` first.'),
  kind: anomalyEventSchema.shape.kind,
  severity: anomalyEventSchema.shape.severity,
  state: anomalyEventSchema.shape.state,
  stage: z.string(),
  started_at: time,
  ended_at: time
    .nullable()
    .describe('When it ended; null while it is open, or if that is unknown.'),
  resolved_at: time.nullable().describe('When its end was noticed.'),
  series: count.describe('Affected series.'),
  tail: z
    .strictObject({
      stage: z.string().describe('Stage that was measured.'),
      quantile: z.number(),
      observed_ms: z.number(),
      baseline_ms: z.number(),
      ratio: z.number(),
      measured_at: time.nullable().describe('End of the windows that the numbers are of.'),
      cold_start: z.boolean().describe('They are of cold starts only.'),
    })
    .nullable()
    .describe(
      'Of an anomaly of durations: the numbers of `headline`, those of the most affected series.',
    ),
  accepted_by: z.array(z.string()).describe('Receivers that accepted its opening.'),
});

export const anomaliesAnswer = answerOf(anomalyRow).extend({
  next: z.string().nullable().describe('Cursor of the next page; null at the end.'),
});

/** An event of the anomaly, or what a receiver answered to one. */
const historyRow = z.strictObject({
  at: time,
  what: z.enum(['opened', 'updated', 'resolved', 'delivery']),
  severity: anomalyEventSchema.shape.severity,
  text: z.string().describe('The event in a sentence, or receiver, outcome and answer.'),
});

/** Everything about one anomaly. */
export const anomalyAnswer = z.strictObject({
  title: z.string(),
  headline,
  facts: z
    .array(z.strictObject({ label: z.string(), text: z.string() }))
    .describe('The facts of its messages, the most important first, then its statistics.'),
  event: anomalyEventSchema.describe('Its newest event.'),
  series_count: count.describe('Affected series, those that joined since the newest event too.'),
  series_title: z
    .string()
    .describe('How many series are affected, and how many of them have not recovered now.'),
  series: z
    .array(
      scopeMemberSchema.extend({
        measured_stage: z.string().describe('Stage whose quantile observed_ms is.'),
        quantile: z.number().describe('Of observed_ms.'),
      }),
    )
    .describe(
      'Affected series, the most affected first, at most twelve: when each recovered is as of now.',
    ),
  common: scopeSchema.shape.common.describe('Values that all affected series have.'),
  history: z.array(historyRow).describe('Oldest first.'),
  distribution: z
    .array(z.strictObject({ from_ms: z.number(), before: count, during: count }))
    .describe('Requests of its series by band, in the baseline and since the start.'),
  evidence: z
    .array(z.string())
    .describe('Why it was opened, in sentences: how many requests, and how slow.'),
  lengths: incidentLengths
    .nullable()
    .describe(
      'Its tail with answers as long as before it: of `dashboard.compared`. Null where it is not about durations, or nothing before it is stored.',
    ),
  dashboard: z.strictObject({
    from: time.describe('Where a chart of it should begin.'),
    to: time,
    measured_stage: z.string(),
    quantile: z.number(),
    baseline_ms: ms,
    whole_model: z.boolean().describe('It is about all requests of a model, not about series.'),
    requests: z
      .strictObject({
        version: z.string(),
        request_type: z.string(),
        region: z.string(),
        attributes: z.string().optional(),
        start: z.enum(['warm', 'cold', 'all']),
      })
      .describe('Which requests it is about; an empty value matches any.'),
    before: z
      .strictObject({ from: time, to: time })
      .describe(
        'The baseline as far as it is stored and lies before the start: `distribution.before`.',
      ),
    compared: z
      .strictObject({
        a: z.strictObject({ from: time, to: time }),
        b: z.strictObject({ from: time, to: time }),
      })
      .nullable()
      .describe(
        'Times to compare: B is its own, A the nearest before it that is stored and in no other anomaly of these requests. Null where there is none.',
      ),
    slowest: z
      .strictObject({ from: time, to: time, stage: z.string() })
      .nullable()
      .describe(
        'Its slowest requests: over which time, and by which stage (empty: by their total). Null where durations say nothing.',
      ),
  }),
});

export type AnomalyRow = z.output<typeof anomalyRow>;
export type AnomaliesAnswer = z.output<typeof anomaliesAnswer>;
export type AnomalyAnswer = z.output<typeof anomalyAnswer>;
