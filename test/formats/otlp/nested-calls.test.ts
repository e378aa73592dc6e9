import { describe, expect, test } from 'vitest';
import { OtlpJsonDecoder } from '../../../src/formats/otlp/otlp-json-decoder.ts';
import { mulberry32 } from '../../base/seeded-random.ts';
import { protoOf } from './oracle.ts';
import { decodeAll, testOptions, testProtoDecoder } from './outcomes.ts';

/** A span: its place in its trace (from 1 on), its parent's, and what it is. */
interface Given {
  readonly id: number | string;
  readonly parent?: number | string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly trace?: string;
  readonly end?: string;
}

const TRACE = '68c0fa8000000001abc0000000000001';
const chat = {
  'gen_ai.operation.name': 'chat',
  'gen_ai.request.model': 'small-1',
  'gen_ai.provider.name': 'openai',
};
const framework = {
  'gen_ai.system': 'Langchain',
  'llm.request.type': 'chat',
  'gen_ai.request.model': 'small-1',
};
const inference = { 'openinference.span.kind': 'LLM', 'llm.model_name': 'small-1' };
const embedding = {
  'openinference.span.kind': 'EMBEDDING',
  'embedding.model_name': 'embedder',
};
const chain = { 'openinference.span.kind': 'CHAIN' };
const agent = { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.request.model': 'small-1' };
const other = { 'http.request.method': 'POST' };

const hex = (id: number | string) =>
  typeof id === 'string' ? id : id.toString(16).padStart(16, '0');

/** Milliseconds of a span, by which a test finds it again. */
const msOf = ({ id }: Given) => (typeof id === 'string' ? 900 : id);

function requestOf(given: readonly Given[]): string {
  const spans = given.map((span) => ({
    ...{ traceId: span.trace ?? TRACE, spanId: hex(span.id), name: 'call' },
    ...(span.parent === undefined ? {} : { parentSpanId: hex(span.parent) }),
    startTimeUnixNano: '1700000000000000000',
    endTimeUnixNano:
      span.end ?? String(1_700_000_000_000_000_000n + BigInt(msOf(span)) * 1_000_000n),
    attributes: Object.entries(span.attributes).map(([key, value]) => ({
      key,
      value: { stringValue: value },
    })),
  }));
  return JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans }] }] });
}

const options = testOptions();
const json = new OtlpJsonDecoder(options);
const proto = testProtoDecoder();

/** What becomes of the spans, each by its milliseconds, which must be the same in both encodings. */
function outcomesOf(spans: readonly Given[]): (number | string)[] {
  const request = requestOf(spans);
  const { outcomes } = decodeAll(json, options, Buffer.from(request));
  expect(proto.decode(protoOf(request)).outcomes).toEqual(outcomes);
  return outcomes.map((outcome) => {
    if (outcome === 'skipped') return 'no event';
    return 'reason' in outcome ? String(outcome.reason) : Number(outcome.event.totalMs);
  });
}

/** Milliseconds of the spans that count, whose order in the message is nothing. */
function counted(...spans: readonly Given[]): (number | string)[] {
  const found = outcomesOf(spans).filter((outcome) => outcome !== 'no event');
  const turned = outcomesOf(spans.toReversed()).filter((outcome) => outcome !== 'no event');
  expect(turned.toReversed()).toEqual(found);
  return found;
}

describe('of a call that several instrumentations trace, the innermost span counts', () => {
  test.each([
    ['a framework above a client', framework, chat],
    ['twice by the conventions', chat, chat],
    ['twice by OpenInference', inference, inference],
    ['a client of one kind above one of another', inference, framework],
  ])('%s', (_what, outer, inner) => {
    const spans = [
      { id: 1, attributes: chain },
      { id: 2, parent: 1, attributes: outer },
      { id: 3, parent: 2, attributes: inner },
    ];
    expect(outcomesOf(spans)).toEqual(['no event', 'no event', 3]);
    expect(counted(...spans)).toEqual([3]);
  });

  test('of three, and with other spans between', () => {
    expect(
      counted(
        { id: 1, attributes: inference },
        { id: 2, parent: 1, attributes: chain },
        { id: 3, parent: 2, attributes: framework },
        { id: 4, parent: 3, attributes: other },
        { id: 5, parent: 4, attributes: chat },
        { id: 6, parent: 5, attributes: other },
      ),
    ).toEqual([5]);
  });

  test('a client that tries again makes a call a try', () => {
    expect(
      counted(
        { id: 1, attributes: framework },
        { id: 2, parent: 1, attributes: { ...chat, 'error.type': '429' } },
        { id: 3, parent: 1, attributes: chat },
      ),
    ).toEqual([2, 3]);
  });

  test('an agent, or a chain, is none, whatever calls it makes', () => {
    expect(
      counted(
        { id: 1, attributes: agent },
        { id: 2, parent: 1, attributes: chat },
        { id: 3, parent: 1, attributes: chat },
        { id: 4, parent: 1, attributes: chain },
        { id: 5, parent: 4, attributes: inference },
      ),
    ).toEqual([2, 3, 5]);
  });

  test('a call for something else inside of a call is one of its own', () => {
    expect(
      counted(
        { id: 1, attributes: inference },
        { id: 2, parent: 1, attributes: embedding },
        { id: 3, parent: 2, attributes: { ...chat, 'gen_ai.operation.name': 'embeddings' } },
      ),
    ).toEqual([1, 3]);
  });

  test('a call counts by its outer span where the inner one can be no event', () => {
    const outer = { id: 1, attributes: framework };
    const nameless = { 'openinference.span.kind': 'LLM' };
    expect(counted(outer, { id: 2, parent: 1, attributes: nameless })).toEqual([
      1,
      'missing_model',
    ]);
    expect(counted(outer, { id: 2, parent: 1, attributes: chat, end: '0' })).toEqual([1, 'no_end']);
  });

  test('an outer span without an end is no dead letter', () => {
    const outer = { id: 1, attributes: framework, end: '0' };
    expect(counted(outer, { id: 2, parent: 1, attributes: chat })).toEqual([2]);
  });
});

describe('spans that are not of one call', () => {
  test('are those whose parent is not in the message', () => {
    expect(
      counted({ id: 1, attributes: framework }, { id: 3, parent: 2, attributes: chat }),
    ).toEqual([1, 3]);
  });

  test('are those of other traces with the same span ids', () => {
    expect(
      counted(
        { id: 1, attributes: framework },
        { id: 3, parent: 1, attributes: chat, trace: `${'b'.repeat(16)}abc0000000000001` },
      ),
    ).toEqual([1, 3]);
  });

  test('may have a circle of parents, or themselves as one', () => {
    expect(counted({ id: 1, parent: 1, attributes: chat })).toEqual([1]);
    expect(
      counted(
        { id: 1, parent: 2, attributes: other },
        { id: 2, parent: 1, attributes: other },
        { id: 3, parent: 2, attributes: chat },
      ),
    ).toEqual([3]);
  });
});

test('ids of a trace may have 16 and 32 digits', () => {
  const short = TRACE.slice(-16);
  expect(
    counted({ id: 1, attributes: framework, trace: short }, { id: 2, parent: 1, attributes: chat }),
  ).toEqual([2]);
});

test('a span that is sent twice in a message is as often what it is', () => {
  const outer = { id: 1, attributes: framework };
  const inner = { id: 2, parent: 1, attributes: chat };
  expect(counted(outer, inner, outer, inner)).toEqual([2, 2]);
});

test('of random trees, what counts is what has no call of its kind below', () => {
  const random = mulberry32(51);
  const below = (count: number) => Math.floor(random() * count);
  const kinds = [chat, framework, inference, embedding, chain, agent, other];
  const kindOf = ({ attributes }: Given) => {
    if (attributes === embedding) return 'embedding';
    const generations: Given['attributes'][] = [chat, framework, inference];
    return generations.includes(attributes) ? 'generation' : 'none';
  };
  for (let round = 0; round < 150; round++) {
    const spans: Given[] = Array.from({ length: 1 + below(40) }, (_, n) => ({
      id: n + 1,
      ...(n > 0 && random() < 0.8 ? { parent: 1 + below(n) } : {}),
      attributes: kinds[below(kinds.length)] ?? other,
    }));
    const outer = new Set<number>();
    for (const span of spans) {
      for (let at: Given | undefined = span; at?.parent !== undefined; ) {
        at = spans[Number(at.parent) - 1];
        if (at && kindOf(at) === kindOf(span)) outer.add(msOf(at));
      }
    }
    const expected = spans.filter((span) => kindOf(span) !== 'none' && !outer.has(msOf(span)));
    const shuffled = spans.toSorted(() => random() - 0.5);
    const found = outcomesOf(shuffled).filter((outcome) => outcome !== 'no event');
    expect(new Set(found)).toEqual(new Set(expected.map(msOf)));
    expect(found).toHaveLength(expected.length);
  }
});
