import { describe, expect, it } from 'vitest';
import type { SpanFormat } from '../../../src/assemble/span-formats.ts';
import { configSchema } from '../../../src/config/schema.ts';
import { spanFinding } from '../../../src/roles/assemble/probe-span-topics.ts';
import { recordedMessages } from '../../assemble/assemble-messages.ts';

/** What is said of the records of a file. */
function findingOf(file: string, format: SpanFormat, partitions = 3, more: object = {}) {
  const topics = [{ topic: 'spans', format, other_children: 'ignore', ...more }];
  const config = configSchema.parse({ assemble: { topics } });
  const records = recordedMessages(`kafka/${file}`).map(({ partition, key, value }) => {
    return { partition, key: key === null ? null : Buffer.from(key), value };
  });
  const [entry] = config.assemble.topics;
  if (entry === undefined) throw new Error('a topic');
  return spanFinding(entry, { partitions, records }, config);
}

describe('what check --connect says of a topic of spans', () => {
  it('is how many spans and roots its records hold, what their keys are and what is rejected', () => {
    expect(findingOf('otlp_spans_keyed.jsonl', 'otlp_proto')).toEqual({
      ok: true,
      isWarning: true,
      what: 'topic spans (otlp_proto)',
      detail:
        'the newest 177 records hold 497 spans of 64 traces, 63 of them with their root of ranker, rank-api; ' +
        'their keys are trace ids; 2 rejected: ends_before_start, ' +
        'The root must not end before it starts, and ends 5 ms before.',
    });
  });

  it('is a warning with what to set where records have no key, unless all are in one partition', () => {
    const finding = findingOf('zipkin_spans_json.jsonl.gz', 'zipkin_json');
    expect(finding).toMatchObject({
      ...{ ok: true, isWarning: true },
      hint: expect.stringContaining('set partition_traces_by_id: true'),
      detail: expect.stringContaining('; 59 have no key;'),
    });
    expect(findingOf('zipkin_spans_json.jsonl.gz', 'zipkin_json', 1)).not.toHaveProperty('hint');
  });

  it('takes the keys of Jaeger for trace ids', () => {
    const { detail } = findingOf('jaeger_spans.jsonl.gz', 'jaeger_proto');
    expect(detail).toContain('hold 497 spans of 64 traces');
    expect(detail).toContain('; their keys are trace ids;');
  });

  it('is a failure with the reason where another format writes to it', () => {
    expect(findingOf('zipkin_spans_json.jsonl.gz', 'otlp_proto')).toMatchObject({
      ok: false,
      detail: expect.stringMatching(
        /^the newest 59 records hold 0 spans of 0 traces, 0 of them with their root; 59 rejected: invalid_protobuf, /,
      ),
      hint: 'Compare its format in assemble.topics with what writes to it.',
    });
  });

  it('is a warning where no span is the root, or keys are of something else', () => {
    const root_names = ['GET /v2/rank'];
    expect(findingOf('otlp_spans_keyed.jsonl', 'otlp_proto', 3, { root_names })).toMatchObject({
      ...{ ok: true, isWarning: true, hint: expect.stringMatching(/^Name the root by root_names/) },
      detail: expect.stringContaining('64 traces, 0 of them with their root'),
    });
    const config = configSchema.parse({
      assemble: { topics: [{ topic: 't', format: 'otlp_proto' }] },
    });
    const [entry] = config.assemble.topics;
    if (entry === undefined) throw new Error('a topic');
    const [message] = recordedMessages('kafka/otlp_spans_keyed.jsonl');
    const records = [{ partition: 0, key: Buffer.from('pod-7'), value: message?.value ?? null }];
    expect(spanFinding(entry, { partitions: 2, records }, config)).toMatchObject({
      ...{ ok: true, isWarning: true },
      detail: expect.stringContaining('; the keys of 1 are not their trace ids'),
    });
    expect(spanFinding(entry, { partitions: 2, records: [] }, config).detail).toBe(
      'no records yet',
    );
  });
});
