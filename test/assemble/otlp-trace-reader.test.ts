import { describe, expect, test } from 'vitest';
import {
  keepingReader,
  type TraceReader,
  traceReader,
} from '../../src/assemble/event/span-formats.ts';
import { childrenRules, type TraceRules } from '../../src/assemble/event/trace-rules.ts';
import { hasParent, type TraceSpan } from '../../src/assemble/trace.ts';
import { defaultFields } from '../../src/formats/spans/rules/span-fields.ts';
import { mulberry32 } from '../base/seeded-random.ts';
import { RandomRequests } from '../formats/otlp/random-request.ts';
import { readOtlpProto } from '../formats/otlp/read-otlp-proto.ts';
import { FuzzMessages } from '../fuzz/fuzz-messages.ts';

type Outcome =
  | { readonly traceId: string; readonly span: TraceSpan }
  | { readonly detail: string; readonly letter: string };

function outcomesOf(read: TraceReader, message: Buffer): Outcome[] | string {
  const outcomes: Outcome[] = [];
  const problem = read(message, {
    // The next span may overwrite this one.
    span: (traceId, span) => outcomes.push({ traceId, span: { ...span } }),
    malformed: (detail, origin) =>
      outcomes.push({ detail, letter: origin.bytes().toString('base64') }),
  });
  return problem ?? outcomes;
}

/** Attributes of a span that is no root are not read, so what is wrong in them is not seen. */
function isUnseen(plain: Outcome | undefined, general: Outcome | undefined): boolean {
  return general !== undefined && 'detail' in general && plain !== undefined && 'span' in plain
    ? hasParent(plain.span)
    : false;
}

function expectSame(message: Buffer, plain: TraceReader, general: TraceReader): number {
  const [found, wanted] = [outcomesOf(plain, message), outcomesOf(general, message)];
  if (typeof wanted === 'string' || typeof found === 'string') {
    expect(found).toEqual(wanted);
    return 0;
  }
  expect(found.map((one, i) => (isUnseen(one, wanted[i]) ? wanted[i] : one))).toEqual(wanted);
  return wanted.filter((one) => 'span' in one && one.span.fields !== undefined).length;
}

const named: TraceRules = {
  ...childrenRules,
  rootNames: new Set(['llm_request', 'ChatCompletion']),
  fields: {
    ...defaultFields,
    model: ['llm.model_name', 'span:name'],
    version: ['gen_ai.request.top_p', 'gen_ai.request.n'],
    request_type: ['openinference.span.kind', 'gen_ai.is_streaming'],
    tenant: ['gen_ai.usage.prompt_tokens', 'error.type'],
    id: ['gen_ai.request.id', 'span:name'],
    output_tokens: ['gen_ai.request.id', 'gen_ai.usage.completion_tokens'],
  },
};
const withMember: TraceRules = {
  ...childrenRules,
  fields: { ...defaultFields, model: ['llm.invocation_parameters#model'] },
};

describe('spans are those of the general path', () => {
  test.each([
    ['default rules', childrenRules, 0.01],
    ['default rules, odd spans', childrenRules, 0.2],
    ['rules of names and numbers', named, 0.02],
    ['a rule of JSON in an attribute', withMember, 0.02],
  ])('%s', (_, rules, oddShare) => {
    const requests = new RandomRequests(mulberry32(5), { oddShare, spans: 6 });
    const mutations = new FuzzMessages(11);
    const plain = traceReader('otlp_proto', rules);
    const general = keepingReader(readOtlpProto, rules);
    let roots = 0;
    for (let i = 0; i < 250; i++) {
      const request = requests.next();
      roots += expectSame(request, plain, general);
      for (let j = 0; j < 3; j++) expectSame(mutations.mutate(request), plain, general);
    }
    expect(roots).toBeGreaterThan(500);
  });
});
