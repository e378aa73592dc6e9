// Covers src/roles/assemble/topic-rules.ts and src/roles/assemble/trace-letter.ts.

import { describe, expect, it } from 'vitest';
import type { SpanFormat } from '../../../src/assemble/event/span-formats.ts';
import { configSchema } from '../../../src/config/schema.ts';
import { spanFinding } from '../../../src/roles/assemble/probe-span-topics.ts';
import { recordedMessages } from '../../assemble/assemble-messages.ts';

/** What is said of the records of a file. */
function findingOf(
  file: string,
  format: SpanFormat,
  partitions = 3,
  more: object = {},
  partitionOf = (recorded: number) => recorded,
) {
  const topics = [{ topic: 'spans', format, other_children: 'ignore', ...more }];
  const config = configSchema.parse({ assemble: { topics } });
  const records = recordedMessages(`kafka/${file}`).map(({ partition, key, value }) => {
    return {
      partition: partitionOf(partition),
      key: key === null ? null : Buffer.from(key),
      value,
    };
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
        'their keys are trace ids; 2 rejected: 1 ends_before_start ' +
        '(The root must not end before it starts, and ends 5 ms before.), ' +
        '1 no_end (The end of the root must be set, and is 0 or no time.)',
    });
  });

  it('is a failure with what to set where traces lie in several partitions, each counted once', () => {
    const finding = findingOf('zipkin_spans_json.jsonl.gz', 'zipkin_json');
    expect(finding).toMatchObject({
      ok: false,
      error: { code: 'TAILMARK_CONFIG_INVALID', exitCode: 78 },
      hint: expect.stringContaining('its event lacks stages: set partition_traces_by_id: true'),
      detail: expect.stringMatching(
        /hold 496 spans of 63 traces, 63 of them with their root .*; 59 have no key; 52 of the traces lie in several partitions;/,
      ),
    });
  });

  it('is a warning where records have no key and lie in one partition of several', () => {
    const one = findingOf('zipkin_spans_json.jsonl.gz', 'zipkin_json', 3, {}, () => 0);
    expect(one).toMatchObject({
      ...{ ok: true, isWarning: true },
      hint: expect.stringMatching(/^Spans of a trace may lie in several partitions: set/),
    });
    expect(
      findingOf('zipkin_spans_json.jsonl.gz', 'zipkin_json', 1, {}, () => 0),
    ).not.toHaveProperty('hint');
  });

  it('is a failure of its own where keys are trace ids and traces lie in several partitions', () => {
    const copies = [0, 1].map((partition) =>
      findingOf('otlp_spans_keyed.jsonl', 'otlp_proto', 2, {}, () => partition),
    );
    expect(copies.map(({ ok }) => ok)).toEqual([true, true]);
    let at = 0;
    const split = findingOf('otlp_spans_keyed.jsonl', 'otlp_proto', 2, {}, () => at++ % 2);
    expect(split).toMatchObject({
      ok: false,
      hint: expect.stringContaining('choose the partition by the key alone'),
      detail: expect.stringContaining('hold 497 spans of 64 traces, 63 of them with their root'),
    });
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

  it('is a failure where every trace with a root is rejected', () => {
    const fields = { model: ['none.such'] };
    const finding = findingOf('otlp_spans_keyed.jsonl', 'otlp_proto', 3, { fields });
    expect(finding).toMatchObject({
      ok: false,
      error: { code: 'TAILMARK_CONFIG_INVALID', exitCode: 78 },
      hint: 'No trace gives an event: compare stages, fields and root_names in assemble.topics with its spans.',
      detail: expect.stringMatching(
        /^the newest 177 records hold 497 spans of 64 traces, 63 of them with their root; .*; 63 rejected: /,
      ),
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
