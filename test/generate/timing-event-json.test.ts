import { describe, expect, it } from 'vitest';
import { generateTraffic } from '../../src/generate/traffic.ts';

/** Every key an event can have, in the order of the contract. */
const order = [
  ...['ts', 'model', 'version', 'request_type', 'region', 'service', 'host', 'id', 'trace_id'],
  ...['status', 'cold_start', 'cache_hit', 'batch_size', 'request_bytes', 'response_bytes'],
  ...['input_tokens', 'output_tokens', 'concurrency', 'queue_depth', 'total_ms', 'stages_ms'],
];
const stageOrder = [
  ...['ingress', 'queue', 'parse', 'features', 'preprocess', 'model_load', 'prefill', 'decode'],
  ...['forward', 'postprocess', 'downstream', 'egress'],
];

describe('encodeEvent', () => {
  const events = [
    ...generateTraffic({ seed: 1, startMs: 1_789e9, durationMs: 60_000, ratePerSecond: 200 }),
  ];

  it('writes one line that reads back as the event', () => {
    for (const event of events) {
      const text = JSON.stringify(event);
      expect(text.includes('\n')).toBe(false);
      expect(JSON.parse(text)).toEqual(event);
    }
  });

  it('writes keys and stages in the order of the contract, whichever of them there are', () => {
    const seen = new Set<string>();
    for (const event of events) {
      const { stages_ms, ...read } = JSON.parse(JSON.stringify(event));
      const keys = [...Object.keys(read), 'stages_ms'];
      expect(keys).toEqual(order.filter((key) => keys.includes(key)));
      const stages = Object.keys(stages_ms);
      expect(stages).toEqual(stageOrder.filter((stage) => stages.includes(stage)));
      for (const key of [...keys, ...stages]) seen.add(key);
    }
    expect([...seen].sort()).toEqual([...order, ...stageOrder].sort());
  });
});
