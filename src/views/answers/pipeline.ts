import { z } from 'zod';
import { count, time } from './common.ts';

const partition = z.strictObject({
  topic: z.string(),
  partition: count,
  stored_offset: count,
  lag_messages: count
    .nullable()
    .describe('Messages in Kafka that are not stored; null where Kafka does not say.'),
  watermark: time.nullable().describe('Event time up to which it is stored.'),
  stored_at: time.nullable(),
  behind_seconds: z.number().nullable(),
});

/** Facts on whether the numbers are current and exact. */
export const pipelineAnswer = z.strictObject({
  title: z.string().describe('The answer in one sentence.'),
  newest_window: time.nullable().describe('End of the newest window that is complete.'),
  age_seconds: z.number().nullable(),
  stored_last_hour: z.strictObject({
    consumed: count,
    aggregated: count,
    rejected_events: count.describe('Of all processes, by the ledger.'),
    rejected: z
      .array(z.strictObject({ reason: z.string(), events: count }))
      .describe(
        'By reason, as this process has counted since `reasons_since`. `unknown`: rejected by others, or before.',
      ),
    reasons_since: time,
    late: count,
    unmapped: count.describe('Spans and records that are no event by intent: no rule maps them.'),
  }),
  ledger: z.strictObject({
    ok: z.boolean(),
    problems: z.array(z.string()).describe('In sentences; empty where every event counted once.'),
    checked_at: time,
  }),
  partitions: z.array(partition),
  detector: z.strictObject({
    evaluated_until: time.nullable(),
    open_anomalies: count,
    series_evaluated: count.nullable(),
    series_waiting: count.nullable().describe('With too little traffic, or no place.'),
  }),
  deliveries: z.array(
    z.strictObject({
      receiver: z.string(),
      due: count,
      oldest_due_seconds: z.number().nullable(),
      last_accepted_at: time.nullable(),
      last_answer: z.string(),
    }),
  ),
  problems: z.array(z.string()).describe('What /readyz of this process says.'),
  sql: z.string(),
});
export type PipelineAnswer = z.output<typeof pipelineAnswer>;
