import { z } from 'zod';

/** RFC 3339 in UTC. */
export const time = z.iso.datetime();
/** Milliseconds; null where there was no request. */
export const ms = z.number().nullable();
export const count = z.number().int().min(0);
/** Part of all, in [0, 1]. */
export const share = z.number().min(0).max(1);

/** State of a window: its numbers can still change, or they cannot. */
export const windowState = z
  .enum(['final', 'provisional', 'open'])
  .describe(
    '`final`: all that arrived is stored. `provisional`: it has ended, and late requests are still accepted. `open`: it has not ended, or not all of it is stored.',
  );

export const range = z.strictObject({
  from: time,
  to: time.describe('Exclusive.'),
  step_seconds: z
    .number()
    .int()
    .min(1)
    .nullable()
    .describe('Length of a step; null where the range is one.'),
});

const windows = z
  .strictObject({ final: count, provisional: count, open: count })
  .describe('How many steps of the range are in each state; a range without steps is one.');

export const unknownValue = z
  .string()
  .optional()
  .describe(
    'A sentence where the model has never had the version, region, request type, stage or own dimension that is asked for: those that it has.',
  );

/** Schema of all answers. `rows` are flat, and `sql` returns their very numbers. */
export const answerOf = <Row extends z.ZodType>(row: Row) =>
  z.strictObject({
    range,
    windows,
    rows: z.array(row),
    sql: z
      .string()
      .describe(
        'A query for ClickHouse that returns the numbers of `rows`, in their order. Copy and run it.',
      ),
    unknown: unknownValue,
  });

export type Range = z.output<typeof range>;
export type Windows = z.output<typeof windows>;
export type WindowState = z.output<typeof windowState>;
