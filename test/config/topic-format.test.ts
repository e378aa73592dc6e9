import { describe, expect, it } from 'vitest';
import { configSchema } from '../../src/config/schema.ts';
import { timingTopic } from '../../src/config/topic-format.ts';

/** Paths and messages of what is wrong with an entry. */
function problemsOf(entry: object, more: object = {}): string[] {
  const topics = [{ topic: 't', ...entry }];
  const { error } = configSchema.safeParse({ kafka: { topics }, ...more });
  return (error?.issues ?? []).map(({ path, message }) => `${path.at(-1)?.toString()} ${message}`);
}

const registry = { schema_registry: { url: 'http://127.0.0.1:8081' } };
const beside = 'must not be set beside preset';

describe('a topic with a format', () => {
  it.each([
    [{ format: 'json', preset: 'nginx' }, []],
    [{ format: 'json', preset: 'nginx', mapping: 'a.yaml' }, [`mapping ${beside}`]],
    [{ format: 'otlp_json', preset: 'vllm', mapping: 'a.yaml' }, [`mapping ${beside}`]],
    [{ format: 'json' }, ['mapping must be set with format json, or preset']],
    [
      { format: 'json', preset: 'vllm' },
      ['preset must be one of cloudevents, envoy, istio, litellm, nginx with format json'],
    ],
    [
      { format: 'timing', model: 'm' },
      [expect.stringMatching(/^model must stand with format json/)],
    ],
    [
      { format: 'avro', framing: 'none' },
      ['schema_file must be set with format avro and framing none'],
    ],
    [{ format: 'avro', schema_file: 'a.avsc' }, []],
    [
      { format: 'protobuf', schema_file: 'a.proto', framing: 'confluent' },
      ['schema_file must not be set with framing confluent: the registry has the schema'],
    ],
    [
      { format: 'avro' },
      ['url must be set, as a topic of kafka.topics has the schemas of a registry'],
    ],
  ])('%j has these problems', (entry, problems) => {
    expect(problemsOf(entry)).toEqual(problems);
  });

  it('of records has its schemas in a registry, if there is one', () => {
    expect(problemsOf({ format: 'avro' }, registry)).toEqual([]);
    expect(problemsOf({ format: 'protobuf', framing: 'confluent' }, registry)).toEqual([]);
    expect(problemsOf({ format: 'protobuf', message: 'M' }, registry)).toEqual([]);
    expect(problemsOf({ format: 'avro', message: 'M' }, registry)).toEqual([
      'message must stand with format protobuf only',
    ]);
  });
});

it('the topic of timing events is the first that holds some', () => {
  const of = (...topics: readonly unknown[]) =>
    timingTopic(configSchema.parse({ kafka: { topics } }).kafka);
  const spans = { topic: 's', format: 'otlp_proto' };
  expect(of(spans, 'a', 'b')).toBe('a');
  expect(of(spans, { topic: 'c', format: 'timing' })).toBe('c');
  expect(of(spans)).toBeUndefined();
});
