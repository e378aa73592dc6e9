import { z } from 'zod';
import { topicName } from './setting-types.ts';

/** Forms in which a topic may hold requests. */
const topicFormats = ['timing', 'json', 'avro', 'protobuf', 'otlp_json', 'otlp_proto'] as const;

/** Mappings of config/presets, for `json`. */
const mappingPresets = ['cloudevents', 'envoy', 'istio', 'litellm', 'nginx'] as const;

/** Rules of spans that are requests, for `otlp_json` and `otlp_proto`. */
const spanPresets = ['vllm', 'sglang', 'genai'] as const;

const format = z
  .enum(topicFormats)
  .describe(
    'timing: the timing event. json, avro, protobuf: records of another form, by a mapping. otlp_json, otlp_proto: OpenTelemetry spans.',
  );

const keys = {
  preset: z
    .enum([...mappingPresets, ...spanPresets])
    .optional()
    .describe(
      `Rules that are part of tailmark. json: ${mappingPresets.join(', ')}. otlp_json, otlp_proto: ${spanPresets.join(', ')}; all of them where there is none.`,
    ),
  mapping: z
    .string()
    .min(1)
    .optional()
    .describe(
      'YAML file that says where the fields of the timing event are in a record, or which spans are which stage.',
    ),
  unwrap: z
    .string()
    .min(1)
    .optional()
    .describe('json: where a log shipper puts the text that holds the record, such as message.'),
  model: z
    .string()
    .min(1)
    .max(256)
    .optional()
    .describe('Model of a request that names none. Not with timing.'),
  framing: z
    .enum(['none', 'confluent'])
    .optional()
    .describe(
      'confluent: records begin with the id of their schema in the registry. By default so with avro and protobuf without schema_file.',
    ),
  schema_file: z
    .string()
    .min(1)
    .optional()
    .describe('avro, protobuf: the .avsc or .proto file of records without a registry.'),
  message: z
    .string()
    .min(1)
    .optional()
    .describe(
      'protobuf: name of the message in schema_file, by default its first. With a registry the index in a record says which; the name decides where serializers count that index differently.',
    ),
};

/** Format of a topic's messages, and its settings. Without a format they are timing events. */
export type TopicFormat = z.output<z.ZodObject<typeof keys>> & {
  readonly format?: (typeof topicFormats)[number] | undefined;
};

/** Which formats each key is for. */
const keysOf: Readonly<Record<keyof typeof keys, readonly (typeof topicFormats)[number][]>> = {
  preset: ['json', 'otlp_json', 'otlp_proto'],
  mapping: ['json', 'avro', 'protobuf', 'otlp_json', 'otlp_proto'],
  unwrap: ['json'],
  model: ['json', 'avro', 'protobuf', 'otlp_json', 'otlp_proto'],
  framing: ['json', 'avro', 'protobuf'],
  schema_file: ['avro', 'protobuf'],
  message: ['protobuf'],
};

/** Rules across the keys of a format. */
export function checkFormat(given: TopicFormat, context: z.RefinementCtx): void {
  const problem = (key: string, message: string) =>
    context.addIssue({ code: 'custom', path: [key], message });
  const { format = 'timing' } = given;
  for (const [key, formats] of Object.entries(keysOf)) {
    const isSet = given[key as keyof typeof keys] !== undefined;
    if (isSet && !formats.includes(format)) {
      problem(key, `must stand with format ${formats.join(', ')} only`);
    }
  }
  const known: readonly string[] = format === 'json' ? mappingPresets : spanPresets;
  if (given.preset !== undefined && keysOf.preset.includes(format)) {
    if (!known.includes(given.preset)) {
      problem('preset', `must be one of ${known.join(', ')} with format ${format}`);
    }
    if (given.mapping !== undefined) problem('mapping', 'must not be set beside preset');
  }
  if (format === 'json' && given.preset === undefined && given.mapping === undefined) {
    problem('mapping', 'must be set with format json, or preset');
  }
  const isRecord = format === 'avro' || format === 'protobuf';
  if (isRecord && given.framing === 'none' && given.schema_file === undefined) {
    problem('schema_file', `must be set with format ${format} and framing none`);
  }
  if (given.schema_file !== undefined && given.framing === 'confluent') {
    problem('schema_file', 'must not be set with framing confluent: the registry has the schema');
  }
}

/** An entry of `kafka.topics`: a name, or a topic with its format. */
export const topicEntry = z.union([
  topicName,
  z
    .strictObject({ topic: topicName.describe('Name of the topic.'), format, ...keys })
    .superRefine(checkFormat),
]);

/** Keys of a file or a stream that say what its lines are. */
export const lineKeys = {
  format: z
    .enum(['timing', 'json', 'otlp_json'])
    .optional()
    .describe('What a line is, as for kafka.topics: timing events by default.'),
  preset: keys.preset,
  mapping: keys.mapping,
  unwrap: keys.unwrap,
  model: keys.model,
};

/** Returns true if the records of a format, which is valid, have their schema in a registry. */
export function needsRegistry({ format, schema_file: schemaFile }: TopicFormat): boolean {
  return (format === 'avro' || format === 'protobuf') && schemaFile === undefined;
}

/** Returns the first topic that holds timing events; undefined where each has another format. */
export function timingTopic({
  topics,
  formats,
}: ReturnType<typeof topicsAndFormats>): string | undefined {
  return topics.find((topic) => (formats[topic]?.format ?? 'timing') === 'timing');
}

/** Returns the names of the topics, and the formats of those that have one. */
export function topicsAndFormats(entries: readonly z.output<typeof topicEntry>[]): {
  readonly topics: string[];
  readonly formats: Readonly<Record<string, TopicFormat>>;
} {
  const formats: Record<string, TopicFormat> = {};
  const topics = entries.map((entry) => {
    if (typeof entry === 'string') return entry;
    const { topic, ...given } = entry;
    formats[topic] = given;
    return topic;
  });
  return { topics, formats };
}
