import { z } from 'zod';
import { totalStage } from '../base/dimensions.ts';

/** Classes that a stage may have: a cause of this class shows as time in the stage. */
export const stageClasses = [
  'queue',
  'compute',
  'feature',
  'network',
  'downstream',
  'serialization',
  'prefill',
  'decode',
  'batching',
  'transfer',
] as const;

export type StageClass = (typeof stageClasses)[number];

/** Name of a stage; with `*`, which stands for any characters, of several. */
const namePattern = /^[A-Za-z*][A-Za-z0-9_.:/*-]{0,63}$/;
const nameRule = `must match ${namePattern.source} and not be "${totalStage}"`;

/** The block `stages`: what is known of stages by their names. */
export const stages = z
  .record(
    z.string().meta({ pattern: namePattern.source, not: { const: totalStage } }),
    z.strictObject({
      class: z
        .enum(stageClasses)
        .optional()
        .describe(
          'Class of a cause that shows in the stage: `bottleneck` of an anomaly, and where to look first.',
        ),
      milestone: z
        .boolean()
        .optional()
        .describe(
          'Whether it is the time from the start to a point, and so no part of the total. `first_token`, `ttft`, `ttfb` and `time_to_*` are by their names.',
        ),
      parts: z
        .array(z.string().min(1).max(64))
        .min(1)
        .optional()
        .describe(
          'Of a milestone: the parts before it, * stands for any characters. Its excess is split over them. Left out, only that of the first token is split, over all but `decode` and what follows it.',
        ),
    }),
  )
  .superRefine((named, context) => {
    for (const name of Object.keys(named)) {
      if (namePattern.test(name) && name !== totalStage) continue;
      const params = { found: `it is ${JSON.stringify(name)}` };
      context.addIssue({ code: 'custom', path: [name], message: nameRule, params });
    }
  })
  .prefault({})
  .describe(
    'Stages by name, or several with `*`. The first entry that fits and says it wins over what is known of names.',
  );

export type StageSettings = z.output<typeof stages>;
