import { describe, expect, test } from 'vitest';
import type { Span } from '../../../src/formats/span.ts';
import { readOtlpJson } from '../../../src/formats/spans/otlp-json.ts';
import { mulberry32 } from '../../base/seeded-random.ts';
import { fixtureBytes, fixtureText } from '../../convert/conversion.ts';
import { oracleSpans } from '../otlp/oracle.ts';
import { RandomRequests } from '../otlp/random-request.ts';
import { readOtlpProto } from '../otlp/read-otlp-proto.ts';

interface Read {
  readonly spans: Span[];
  readonly letters: Buffer[];
}

function readProto(bytes: Buffer): Read {
  const spans: Span[] = [];
  const letters: Buffer[] = [];
  const problem = readOtlpProto(bytes, {
    span: (span, origin) => {
      spans.push(span);
      letters.push(origin.bytes());
    },
    malformed: (detail) => expect.unreachable(detail),
  });
  expect(problem).toBeUndefined();
  return { spans, letters };
}

function readJson(text: string): Span[] {
  const spans: Span[] = [];
  const problem = readOtlpJson(text, {
    span: (span) => spans.push(span),
    malformed: (detail) => expect.unreachable(detail),
  });
  expect(problem).toBeUndefined();
  return spans;
}

const recordsOf = (file: string) =>
  fixtureText(`kafka/${file}`)
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

/** Order of spans and of attributes left aside. */
function sorted(spans: readonly Span[]) {
  const entries = (map: ReadonlyMap<string, unknown>) => [...map].sort();
  return spans
    .map((span) =>
      JSON.stringify({
        ...span,
        attributes: entries(span.attributes),
        resource: entries(span.resource),
        events: span.events.map((event) => ({ ...event, attributes: entries(event.attributes) })),
      }),
    )
    .sort();
}

describe('records of the collector', () => {
  const proto = recordsOf('otlp_spans.jsonl').map(({ value_b64 }) =>
    readProto(Buffer.from(value_b64, 'base64')),
  );
  const spans = proto.flatMap((read) => read.spans);

  test('have the spans that the same records have as JSON', () => {
    const json = recordsOf('otlp_spans_json.jsonl.gz').flatMap(({ value }) => readJson(value));
    expect(spans).toHaveLength(497);
    expect(sorted(spans)).toEqual(sorted(json));
  });

  test('with a key have the same spans', () => {
    const keyed = recordsOf('otlp_spans_keyed.jsonl').flatMap(
      ({ value_b64 }) => readProto(Buffer.from(value_b64, 'base64')).spans,
    );
    expect(sorted(keyed)).toEqual(sorted(spans));
  });

  test('give of each span a message that reads as the span did', () => {
    const again = proto.flatMap(({ letters }) => letters.map((letter) => readProto(letter).spans));
    expect(again).toEqual(spans.map((span) => [span]));
  });
});

test('a request reads the same with its fields ascending and descending', () => {
  const [up, down] = ['sdk-python-1.45-export-request', 'collector-0.165-kafka-message'].map(
    (file) => readProto(fixtureBytes(`otlp-proto/${file}.bin`)).spans,
  );
  expect(up?.length).toBeGreaterThan(30);
  expect(sorted(up ?? [])).toEqual(sorted(down ?? []));
});

describe('protobufjs gives the same spans', () => {
  test('of what the collector and the SDK wrote', () => {
    const requests = [
      ...recordsOf('otlp_spans.jsonl').map(({ value_b64 }) => Buffer.from(value_b64, 'base64')),
      fixtureBytes('otlp-proto/sdk-python-1.45-export-request.bin'),
      fixtureBytes('otlp-proto/collector-0.165-kafka-message.bin'),
    ];
    for (const request of requests) {
      expect(sorted(readProto(request).spans)).toEqual(sorted(oracleSpans(request)));
    }
  });

  test('of random requests with their fields in any order', () => {
    const requests = new RandomRequests(mulberry32(1), { oddShare: 0.1, spans: 4 });
    let spanCount = 0;
    for (let i = 0; i < 1_000; i++) {
      const request = requests.next();
      const { spans } = readProto(request);
      spanCount += spans.length;
      expect(sorted(spans)).toEqual(sorted(oracleSpans(request)));
    }
    expect(spanCount).toBeGreaterThan(4_000);
  });
});
