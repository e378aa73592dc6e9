import { z } from 'zod';
import { isStageName, stageName, stageNameRule, totalStage } from '../base/dimensions.ts';
import { limits } from '../base/limits.ts';
import { hourMs, minuteMs, secondMs } from '../base/time.ts';
import { checkNamedOnce, duration, topicName, whole } from './setting-types.ts';

const sources = z
  .array(z.string().min(1).max(200))
  .max(10)
  .optional()
  .describe(
    'Where the field comes from, the first that is there: an attribute of the root, resource:NAME or span:name.',
  );

const fields = z
  .strictObject({
    model: sources,
    version: sources,
    request_type: sources,
    service: sources,
    host: sources,
    region: sources,
    tenant: sources,
    id: sources,
    batch_size: sources,
    input_tokens: sources,
    output_tokens: sources,
    attributes: z.record(z.string(), sources).optional().describe('Own dimensions and facets.'),
  })
  .prefault({})
  .describe('Sources of the fields of the event. A field that is left out has its default ones.');

/** Pattern for editors; the rule is checked below, where its message has the key. */
const nameOfStage = z.string().meta({ pattern: stageName.source, not: { const: totalStage } });

const topic = z.strictObject({
  topic: topicName.describe('Topic of spans, its records keyed by trace id.'),
  format: z
    .enum(['otlp_proto', 'otlp_json', 'jaeger_proto', 'jaeger_json', 'zipkin_json'])
    .describe('Encoding of its records.'),
  preset: z
    .enum(['triton'])
    .optional()
    .describe("triton: stages come from the events of Triton's spans."),
  root_names: z
    .array(z.string().min(1))
    .default([])
    .describe('Names of spans that are the root. Without them it is the span without a parent.'),
  stages: z
    .record(nameOfStage, z.array(z.string().min(1)).min(1))
    .superRefine((named, context) => {
      for (const name of Object.keys(named)) {
        if (isStageName(name)) continue;
        const params = { found: `it is ${JSON.stringify(name)}` };
        context.addIssue({ code: 'custom', path: [name], message: stageNameRule, params });
      }
    })
    .default({})
    .describe('Names of spans by stage; they count anywhere below the root.'),
  other_children: z
    .enum(['stage', 'ignore'])
    .default('stage')
    .describe('Whether other direct children of the root are stages by their names.'),
  fields,
  weight: z
    .int()
    .min(1)
    .max(limits.eventWeight)
    .optional()
    .describe(
      "Requests that a trace stands for where its tracestate does not say it, such as N of Triton's trace rate.",
    ),
});

/** The block `assemble`: traces of spans, to timing events. */
export const assemble = z
  .strictObject({
    topics: z
      .array(topic)
      .superRefine((entries, context) =>
        checkNamedOnce(
          entries.map((entry) => entry.topic),
          context,
        ),
      )
      .default([])
      .describe('Topics of spans; none where none are assembled.'),
    output: topicName
      .optional()
      .describe(
        'Topic of the timing events. By default the first of kafka.topics that holds some.',
      ),
    group_id: z
      .string()
      .min(1)
      .max(249)
      .default('tailmark-assemble')
      .describe('Consumer group, and beginning of the transactional ids.'),
    allow_other_groups: z
      .boolean()
      .default(false)
      .describe(
        'Assemble topics that another group assembles into the same output; every trace then counts twice.',
      ),
    wait: duration('30s', secondMs, 10 * minuteMs).describe(
      'A trace without a span for this long is complete.',
    ),
    max_trace: duration('5m', secondMs, hourMs).describe('How long a trace is open at most.'),
    late_memory: duration('1m', secondMs, hourMs).describe(
      'How long after its last span a trace is remembered, so that spans of it that come late are no second event.',
    ),
    max_open_traces: whole(100_000, 1, 10_000_000).describe(
      'Open traces of a partition. Beyond, the oldest is a dead letter.',
    ),
    max_spans: whole(2_000, 1, 1_000_000).describe(
      'Spans of a trace. A trace with more is a dead letter.',
    ),
    max_bytes: whole(256 * 1024 * 1024, 1024 * 1024, 16 * 1024 * 1024 * 1024).describe(
      'Memory of the open traces of a partition, estimated. Beyond, the oldest is a dead letter.',
    ),
    commit_interval: duration('1s', 10, minuteMs).describe(
      'How often events are written, in a transaction with the offsets.',
    ),
  })
  .refine(({ wait, late_memory }) => late_memory >= wait, {
    path: ['late_memory'],
    error: 'must be at least wait',
  })
  .refine(({ wait, max_trace }) => max_trace >= wait, {
    path: ['max_trace'],
    error: 'must be at least wait',
  })
  .prefault({})
  .describe('Assembles traces: spans in Kafka become timing events (the role assemble).');

export type AssembleConfig = z.output<typeof assemble>;
export type AssembleTopic = AssembleConfig['topics'][number];
