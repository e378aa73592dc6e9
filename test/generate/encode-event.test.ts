import { describe, expect, it } from 'vitest';
import { encodeEvent } from '../../src/generate/encode-event.ts';
import type { TimingEventJson } from '../../src/generate/timing-event-json.ts';

const event: TimingEventJson = {
  ts: 1_789_000_000_123,
  model: 'ranker',
  version: '2026-11-01',
  request_type: 'search',
  region: 'eu-west-1',
  service: 'rank-api',
  host: 'pod-7',
  id: 'req-81f3',
  trace_id: '4bf92f3577b34da6a3ce929d0e0e4736',
  status: 'ok',
  cold_start: false,
  cache_hit: true,
  batch_size: 8,
  request_bytes: 18_211,
  response_bytes: 912,
  input_tokens: 512,
  output_tokens: 128,
  concurrency: 12,
  queue_depth: 3,
  total_ms: 84.1,
  stages_ms: { ingress: 1.2, queue: 6.4, forward: 76.5 },
};

describe('encodeEvent', () => {
  it('writes the keys in the order of the contract, as JSON.stringify would', () => {
    expect(encodeEvent(event)).toBe(JSON.stringify(event));
  });

  it('leaves out what the event does not have', () => {
    const { cache_hit, input_tokens, output_tokens, ...rest } = event;
    expect(encodeEvent(rest)).toBe(JSON.stringify(rest));
    expect([cache_hit, input_tokens, output_tokens]).toEqual([true, 512, 128]);
  });

  it.each(['a"b', 'a\\b', 'a\nb', '\u0000', 'größe', '模型', '😀', '\ud800'])(
    'escapes %j as JSON.stringify does',
    (text) => {
      const odd = { ...event, model: text, host: text, stages_ms: { [text]: 0.001, b: 1e-7 } };
      expect(encodeEvent(odd)).toBe(JSON.stringify(odd));
    },
  );
});
