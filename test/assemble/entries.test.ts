import { describe, expect, test } from 'vitest';
import { outcomeOf } from '../../src/assemble/event/trace-outcome.ts';
import { childrenRules } from '../../src/assemble/event/trace-rules.ts';
import type { ClosingCause } from '../../src/assemble/trace.ts';
import {
  bytesField,
  fixed32Field,
  fixed64Field,
  varintField,
} from '../formats/otlp/proto-writer.ts';
import { assembleMessages } from './assemble-messages.ts';
import { spanOf } from './restart-world.ts';

const INTERNAL = 1;
const SERVER = 2;
const CLIENT = 3;
const CONSUMER = 5;
const LOCAL = 0x100;
const REMOTE = 0x300;

interface Given {
  readonly id: string;
  readonly parent?: string;
  readonly name: string;
  readonly kind: number;
  readonly flags?: number;
  readonly ms: number;
}

const top: Given = { id: 'a1', parent: 'ee', name: 'POST', kind: SERVER, ms: 300 };
const child: Given = { id: 'b2', parent: 'a1', name: 'forward', kind: INTERNAL, ms: 200 };

const START = 1_790_000_000_000_000_000n;
const TRACE = 'c'.repeat(32);
const bytesOf = (id: string) => Buffer.from(id.padStart(16, '0'), 'hex');
const endOf = ({ ms }: Given) => START + BigInt(ms) * 1_000_000n;
const resource = [{ key: 'service.name', value: { stringValue: 'rank-api' } }];

function proto(spans: readonly Given[]): Buffer {
  const attribute = [bytesField(1, 'service.name'), bytesField(2, [bytesField(1, 'rank-api')])];
  const span = (given: Given) =>
    bytesField(2, [
      bytesField(1, Buffer.from(TRACE, 'hex')),
      bytesField(2, bytesOf(given.id)),
      ...(given.parent === undefined ? [] : [bytesField(4, bytesOf(given.parent))]),
      ...[bytesField(5, given.name), varintField(6, given.kind)],
      ...[fixed64Field(7, START), fixed64Field(8, endOf(given))],
      ...(given.flags === undefined ? [] : [fixed32Field(16, given.flags)]),
    ]);
  const scope = bytesField(2, spans.map(span));
  return bytesField(1, [bytesField(1, [bytesField(1, attribute)]), scope]);
}

function json(spans: readonly Given[]): Buffer {
  const span = (given: Given) => ({
    ...{ traceId: TRACE, spanId: given.id, parentSpanId: given.parent ?? '', name: given.name },
    ...{ kind: given.kind, flags: given.flags, startTimeUnixNano: String(START) },
    endTimeUnixNano: String(endOf(given)),
  });
  const scopeSpans = [{ spans: spans.map(span) }];
  return Buffer.from(
    JSON.stringify({ resourceSpans: [{ resource: { attributes: resource }, scopeSpans }] }),
  );
}

/** What a trace gives, which must be the same by both encodings and in any order. */
function found(...spans: readonly Given[]) {
  const all = [spans, spans.toReversed()].flatMap((order) => [
    assembleMessages([{ value: proto(order) }], 'otlp_proto', childrenRules),
    assembleMessages([{ value: json(order) }], 'otlp_json', childrenRules),
  ]);
  const results = all.map(({ events, rejected }) => [
    ...events.map(({ total_ms: ms, stages_ms }) => ({ ms, stages_ms })),
    ...rejected.map(({ reason }) => reason),
  ]);
  for (const each of results) expect(each).toEqual(results[0]);
  return results[0];
}

const request = [{ ms: 300, stages_ms: { forward: 200 } }];

describe('a trace of which no span is without a parent', () => {
  test.each([
    ["a server's span", {}],
    ["a consumer's span", { kind: CONSUMER }],
    [
      'a span of any kind that says that its parent is in another process',
      { kind: INTERNAL, flags: REMOTE },
    ],
    ["a client's that says so", { kind: CLIENT, flags: REMOTE }],
  ])('is the request that enters by %s', (_what, change) => {
    expect(found({ ...top, ...change }, child)).toEqual(request);
  });

  test.each([
    ['a span that may be a part', { kind: INTERNAL }],
    ["a client's span", { kind: CLIENT }],
    ['a span without a kind', { kind: 0 }],
    ["a server's span that says that its parent is in its own process", { flags: LOCAL }],
  ])('is none where it begins with %s', (_what, change) => {
    expect(found({ ...top, ...change }, child)).toEqual(['no_root']);
  });

  test('is the request of its topmost server, not of those below', () => {
    const call: Given = { ...child, id: 'b3', name: 'rank', kind: CLIENT };
    const server: Given = { ...top, id: 'b4', parent: 'b3', name: 'rank', ms: 180 };
    expect(found(top, child, call, server)).toEqual([
      { ms: 300, stages_ms: { forward: 200, rank: 200 } },
    ]);
  });

  test('leaves out spans whose parent was lost, like every trace', () => {
    const lost: Given = { ...child, id: 'd1', parent: 'd0', name: 'lost' };
    expect(found(top, child, lost)).toEqual(request);
  });

  test('is none where it enters twice', () => {
    expect(found(top, { ...top, id: 'a2', parent: 'ef' })).toEqual(['no_root']);
  });
});

test('a span without a parent is the root, whatever else has its parent elsewhere', () => {
  const { parent: _, ...root } = top;
  const other: Given = { ...top, id: 'a2', parent: 'ef', name: 'other', ms: 999 };
  expect(found(root, child, other)).toEqual(request);
});

const fields = { ts: 1_795_608_000_000, model: 'm', trace_id: 'ab', status: 'ok' };

test.each<[ClosingCause, string]>([
  ['wait', 'event'],
  ['max_trace', 'no_root'],
])('a trace that was closed by %s while its parent may come: %s', (cause, outcome) => {
  const spans = [{ ...spanOf(1), parentLow: 77, fields }];
  const trace = { traceId: 'ab', offset: 0, index: 0, spansLeftOut: 0, duplicates: 0 };
  const result = outcomeOf({ ...trace, spans, cause }, childrenRules);
  expect('event' in result ? 'event' : result.reason).toBe(outcome);
});
