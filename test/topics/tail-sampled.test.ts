import { expect, test } from 'vitest';
import { withSampling } from '../../src/topics/tail-sampled.ts';
import { fixtureText } from '../convert/conversion.ts';
import { protoOf } from '../formats/otlp/oracle.ts';

const [line = ''] = fixtureText('llm-server-spans/vllm-sglang-genai.otlp.jsonl').split('\n');
const request = JSON.parse(line);
/** As the collector's tail sampler writes it. */
const policy = { key: 'tailsampling.policy', value: { stringValue: 'slow' } };
const sampled = JSON.stringify({
  resourceSpans: [
    {
      ...request.resourceSpans[0],
      scopeSpans: [{ scope: { name: 's', attributes: [policy] }, spans: [] }],
    },
  ],
});
const finding = { ok: true, what: 'topic t', detail: '20 requests' };
const detail = '20 requests; a tail sampler chose some of them (tailsampling.policy)';

test.each([
  ['protobuf', protoOf(sampled)],
  ['JSON', Buffer.from(sampled)],
])('spans that a tail sampler chose are a warning: %s', (_, value) => {
  const warning = withSampling(finding, [{ value: null }, { value: protoOf(line) }, { value }]);
  expect(warning).toMatchObject({ ok: true, isWarning: true, detail });
  expect(warning.hint).toMatch(/^Percentiles of what a tail sampler keeps/);
  const hinted = withSampling({ ...finding, hint: 'Name the root.' }, [{ value }]);
  expect(hinted.hint).toMatch(/^Name the root\. Percentiles/);
});

test('other spans are not, and a topic that cannot be read says that first', () => {
  const others = [{ value: protoOf(line) }, { value: null }];
  expect(withSampling(finding, others)).toBe(finding);
  const failed = { ...finding, ok: false };
  expect(withSampling(failed, [{ value: Buffer.from(sampled) }])).toBe(failed);
});
