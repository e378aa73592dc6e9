import { z } from 'zod';
import { attributeKeyPattern, isStageName, stageNameRule } from '../../base/dimensions.ts';
import { statuses } from '../../base/statuses.ts';
import { units } from './exact-time.ts';
import { parsePath } from './path.ts';
import { patternProblem } from './pattern.ts';
import { textLineNames } from './text-lines.ts';

const path = z
  .string('must be a path such as a.b[0]."c.d"')
  .refine((text) => parsePath(text) !== undefined, 'must be a path such as a.b[0]."c.d"')
  .meta({
    form: 'a path',
    description: 'Keys from the object to the value; quotes around a key with dots.',
  });

/** One of something, or a list of fallbacks: the first that is there counts. */
const oneOrMore = <Type extends z.ZodType>(one: Type) =>
  z.union([one, z.array(one).min(1, 'must not be an empty list')]);

const paths = oneOrMore(path).meta({
  description: 'Path, or a list of them: the first found counts.',
});

const scalar = z.union([z.string(), z.number(), z.boolean()], {
  error: 'must be a text, a number, true or false',
});

const source = z.union(
  [
    path,
    z.strictObject({
      path: paths,
      pattern: z
        .string('must be a text')
        .superRefine((text, context) => {
          const problem = patternProblem(text);
          if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
        })
        .optional()
        .meta({
          form: 'a regular expression',
          description:
            'Regular expression with one group: what it holds is the value. Without a match the value is absent.',
        }),
    }),
    z.strictObject({ value: scalar.meta({ description: 'The same value for every event.' }) }),
  ],
  { error: 'must be a path, {path, pattern} or {value}' },
);

const field = (what: string) =>
  oneOrMore(source)
    .optional()
    .meta({ description: `${what} A list is tried in order.` });

const unit = z.enum(units, `must be one of ${units.join(', ')}`).meta({
  description: 'Unit of the number: seconds, milliseconds, microseconds or nanoseconds.',
});

const time = z.strictObject({
  path: paths,
  unit: unit.optional().meta({
    description: 'Unit of a number since 1970. A text may be an RFC 3339 date-time instead.',
  }),
});

const times = (what: string) => oneOrMore(time).optional().meta({ description: what });

const duration = z.strictObject({
  path: paths,
  unit,
  sum: z.boolean('must be true or false').optional().meta({
    description:
      'Adds up a text with a list, as nginx writes it: "0.010, 0.024". "-" adds nothing.',
  }),
});

const condition = z.strictObject({
  path,
  equals: scalar
    .optional()
    .meta({ description: 'Value it must have. Left out: it must be there.' }),
});

const conditions = (what: string) =>
  z.array(condition).min(1, 'must not be an empty list').optional().meta({ description: what });

const nameOfStage = z
  .string('must be a text')
  .refine(isStageName, stageNameRule)
  .meta({ description: 'Name of the stage.' });
const where = conditions('Conditions on the object, else the stage is left out.');

const stages = z.union(
  [
    z
      .array(
        z.union(
          [
            duration.extend({ name: nameOfStage, where }),
            z.strictObject({
              name: nameOfStage,
              start: times('Start of the stage. Left out: the start of the request.'),
              end: oneOrMore(time).meta({ description: 'End of the stage.' }),
              where,
            }),
          ],
          { error: 'must be {name, path, unit} or {name, start, end}' },
        ),
      )
      .min(1, 'must not be an empty list'),
    z.strictObject({ path: paths, unit }),
    z.strictObject({
      path: paths,
      name: path.meta({ description: 'Path of the name, from an item of the list.' }),
      duration: path.meta({ description: 'Path of the duration, from an item of the list.' }),
      unit,
    }),
  ],
  { error: 'must be a list of stages, {path, unit} or {path, name, duration, unit}' },
);

const statusRule = z.strictObject({
  path: paths,
  map: z
    .record(
      z.string().regex(/^(?!\s*$)/, 'must not be empty'),
      z.enum(statuses, `must be one of ${statuses.join(', ')}`),
    )
    .meta({
      description:
        'Status by value: exact (`OK`, `504`), a class of codes (`5xx`) or a range (`>=500`); exact values first.',
    }),
  otherwise: z
    .enum(statuses, `must be one of ${statuses.join(', ')}`)
    .optional()
    .meta({
      description: 'Status of a value that is not in the map. Left out: the next rule is asked.',
    }),
});

/**
 * Rules that make a team's own JSON objects timing events. Every key names where a field of the event comes
 * from; a field without a key stays absent.
 */
export const mappingSchema = z
  .strictObject({
    unwrap: paths.optional().meta({
      description:
        'Where a log shipper puts the text that holds the JSON, such as `message`. Objects without it are taken as they are; a text that is no object gives no event.',
    }),
    headers: z.string('must be a text').min(1, 'must not be empty').optional().meta({
      description:
        "Key under which the headers of the object's record in Kafka are, as texts. Left out: they are not read.",
    }),
    lines: z
      .enum(textLineNames, `must be one of ${textLineNames.join(', ')}`)
      .optional()
      .meta({
        description:
          'Text that is read too, as an object with the fields of the same JSON: lines of this software.',
      }),
    where: conditions('Conditions on the object, else it gives no event.'),
    once: z.boolean('must be true or false').optional().meta({
      description:
        'Whether objects with the same `id` that start in the same millisecond are one request: the first of a message or a conversion counts, the others give no event. An object without an id always counts.',
    }),
    start: times('Start of the request.'),
    end: times('End of the request: for the total, or for the start, which is end − total.'),
    total: oneOrMore(duration).optional().meta({
      description: 'Duration of the whole request. Left out: end − start.',
    }),
    stages: stages.optional().meta({ description: 'Durations of the stages.' }),
    milestones: stages.optional().meta({
      description:
        'Times from the start to points of the request, written as stages are. A milestone is no part of the total: `headers` is kept as the stage `time_to_headers`.',
    }),
    itl: z.strictObject({ path: paths, unit }).optional().meta({
      description:
        'Gaps between the tokens of the answer (inter-token latency): a list of durations in the order in which they arrived.',
    }),
    status: oneOrMore(statusRule).optional().meta({
      description: 'How the request ended: the first rule with an answer counts. Absent: ok.',
    }),
    model: field('Model that answered.'),
    version: field('Version of the model.'),
    request_type: field('Kind of request.'),
    region: field('Where it ran.'),
    service: field('Service that answered.'),
    host: field('Pod or machine that answered.'),
    tenant: field('Customer or team the request was for.'),
    id: field('Id of the request.'),
    trace_id: field('Trace the request is part of.'),
    cold_start: field('Whether the request waited for a model to load.'),
    cache_hit: field('Whether a cache answered.'),
    partial: field('Whether the event reports some stages of a request only.'),
    batch_size: field('Requests in the batch.'),
    request_bytes: field('Size of the request.'),
    response_bytes: field('Size of the response.'),
    input_tokens: field('Tokens read.'),
    output_tokens: field('Tokens generated.'),
    concurrency: field('Requests in flight when it arrived.'),
    queue_depth: field('Requests waiting when it arrived.'),
    weight: field('Requests that the event stands for.'),
    attributes: z
      .record(
        z
          .string()
          .regex(attributeKeyPattern, 'must be a letter and up to 63 letters, digits or "_.-"'),
        oneOrMore(source),
      )
      .optional()
      .meta({
        description:
          "Values of the team's own dimensions and facets, by name. Those count that `windows.dimensions` or `windows.facets` name.",
      }),
  })
  .check((context) => {
    const { start, end, total, once, id, ...given } = context.value;
    const problem = (key: string, message: string) =>
      context.issues.push({ code: 'custom', message, path: [key], input: context.value });
    if (start === undefined && (end === undefined || total === undefined)) {
      problem('start', 'must be given, or else both end and total');
    }
    if (once === true && id === undefined) {
      problem('id', 'must be given with once');
    }
    const { stages: parts = given.milestones } = given;
    if (total === undefined && end === undefined && parts === undefined) {
      problem('total', 'must be given, or else end or stages');
    }
  });

/** A valid mapping. */
export type Mapping = z.output<typeof mappingSchema>;
export type Source = z.output<typeof source>;
export type TimeSource = z.output<typeof time>;
export type DurationSource = z.output<typeof duration>;
export type Condition = z.output<typeof condition>;
export type StatusRule = z.output<typeof statusRule>;
