// Covers src/formats/spans/rules/compiled-presets.ts and src/formats/spans/rules/span-fields.ts.
import { describe, expect, it } from 'vitest';
import { OtlpJsonDecoder } from '../../../src/formats/otlp/otlp-json-decoder.ts';
import { OtlpProtoDecoder } from '../../../src/formats/otlp/otlp-proto-decoder.ts';
import { compileSpanRules, spanRulesSchema } from '../../../src/formats/spans/rules/span-rules.ts';
import { protoOf } from './oracle.ts';
import { decodeAll, testOptions } from './outcomes.ts';

const attribute = (key: string, value: object) => ({ key, value });
const text = (key: string, stringValue: string) => attribute(key, { stringValue });

/** A span of vLLM with attributes of its own, of a resource with others. */
function request(own: readonly object[]): string {
  const span = {
    ...{ traceId: '4462ebfc5f915ef09cfbac6e7687a66e', spanId: '2fa73207237751aa' },
    ...{ name: 'llm_request', kind: 2, status: {} },
    ...{ startTimeUnixNano: '1795609800000000000', endTimeUnixNano: '1795609801000000000' },
    attributes: [attribute('gen_ai.latency.e2e', { doubleValue: 1 }), ...own],
  };
  const resource = { attributes: [text('service.name', 'llm'), text('gpu.type', 'h100')] };
  return JSON.stringify({
    resourceSpans: [
      { resource, scopeSpans: [{ scope: { name: 'vllm.llm_engine' }, spans: [span] }] },
    ],
  });
}

const names = {
  dimensions: ['model', 'attributes.adapter', 'attributes.gpu.type'],
  facets: ['attributes.rank'],
} as const;
const own = [text('adapter', 'lora-7'), attribute('rank', { intValue: '3' }), text('other', 'x')];

/** What a decoder makes of a message: the text of the dimensions, and the facet. */
function readBy(kind: 'json' | 'proto', message: string, rules?: object) {
  const compiled = rules && compileSpanRules(spanRulesSchema.parse(rules));
  const options = { ...testOptions(), ...names, ...(compiled && { rules: compiled }) };
  const found: string[][] = [];
  const sink = {
    event: (event: { attributesId: number; attributeFacetIds: Int32Array }) =>
      found.push(
        [event.attributesId, event.attributeFacetIds[0] ?? 0].map((id) => options.values.text(id)),
      ),
    reject: (_: number, reason: string, detail: string) => found.push([reason, detail]),
    skip: () => undefined,
  };
  if (kind === 'json') new OtlpJsonDecoder(options).decode(Buffer.from(message), sink);
  else new OtlpProtoDecoder(options).decode(protoOf(message), sink);
  return found;
}

describe.each(['json', 'proto'] as const)('attributes of spans in %s', (kind) => {
  it('are own dimensions and facets: those of the span, or else of its resource', () => {
    expect(readBy(kind, request(own))).toEqual([['adapter=lora-7,gpu.type=h100', '3']]);
    expect(readBy(kind, request([text('gpu.type', 'a100')]))).toEqual([['gpu.type=a100', '']]);
    expect(readBy(kind, request([text('adapter', '__other__')]))).toMatchObject([
      ['bad_dimension', expect.any(String)],
    ]);
  });

  it('are those that rules name, where there are rules', () => {
    const rules = {
      stages: {},
      fields: { attributes: { adapter: ['lora', 'adapter'], rank: ['span:name'] } },
    };
    expect(readBy(kind, request(own), rules)).toEqual([['adapter=lora-7', 'llm_request']]);
  });

  it('cost nothing where none is configured', () => {
    const options = testOptions();
    const decoder = kind === 'json' ? new OtlpJsonDecoder(options) : new OtlpProtoDecoder(options);
    const message = kind === 'json' ? Buffer.from(request(own)) : protoOf(request(own));
    expect(decodeAll(decoder, options, message).outcomes).toMatchObject([
      { event: { attributes: '' } },
    ]);
    if (decoder instanceof OtlpProtoDecoder) expect(decoder.fallbackCount).toBe(0);
  });
});
