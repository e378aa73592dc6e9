import { z } from 'zod';
import { ms, range, time, unknownValue } from './common.ts';

/** Why a quantile is not shown at other lengths. */
const unshownReasons = [
  'no_lengths',
  'some_requests',
  'nothing_earlier',
  'same_lengths',
  'not_measured',
  'too_few_requests',
  'given_up',
  'within_error',
] as const;

/** A quantile of whole requests as they are, and as if their answers were as long as earlier. */
const tailAtLengths = z.strictObject({
  q: z.number(),
  ms: ms.describe('As the requests are.'),
  at_lengths_ms: ms.describe('With answers as long as earlier.'),
  earlier_ms: ms.describe('As the earlier requests were; null too where that is a lower bound.'),
  error: z
    .number()
    .nullable()
    .describe('Largest relative error of `at_lengths_ms` that was measured.'),
  text: z.string().nullable().describe('All of this in a sentence.'),
  reason: z
    .enum(unshownReasons)
    .nullable()
    .describe(
      'Why all others are null. `no_lengths`: no event has `output_tokens`. `some_requests`: lengths are stored of all regions, request types and own dimensions together. `nothing_earlier`: no earlier request is stored. `same_lengths`: they differ by no more than chance. `not_measured`: the error is known from p50 to p99, of lengths up to three times and down to half. `too_few_requests`: fewer than three effective requests lie beyond the quantile. `given_up`: the quantile is a lower bound. `within_error`: it differs by no more than the error.',
    ),
});

const earlierRequests = z
  .strictObject({ from: time, to: time })
  .nullable()
  .describe('The time whose lengths of answers are taken; null where there is none.');

export const lengthsAnswer = z.strictObject({
  range,
  earlier: earlierRequests,
  rows: z.array(tailAtLengths).describe('In the order asked for.'),
  unknown: unknownValue,
});

/** The tail of an incident. */
export const incidentLengths = tailAtLengths.extend({ earlier: earlierRequests });

export type IncidentLengths = z.output<typeof incidentLengths>;
export type TailAtLengths = z.output<typeof tailAtLengths>;
export type LengthsAnswer = z.output<typeof lengthsAnswer>;
