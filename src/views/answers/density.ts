import { z } from 'zod';
import { answerOf, count, time, windowState } from './common.ts';

/** Requests of a step by the band of their total. Bands are quarter octaves; band 0 begins at 1 ms. */
const densityRow = z.strictObject({
  at: time,
  state: windowState,
  requests: count,
  bands: z.array(z.strictObject({ band: z.number().int(), from_ms: z.number(), requests: count })),
});

export const densityAnswer = answerOf(densityRow);
export type DensityRow = z.output<typeof densityRow>;
export type DensityAnswer = z.output<typeof densityAnswer>;
