import { describe, expect, it } from 'vitest';
import { MemoryWindows } from '../../src/backtest/memory-windows.ts';
import { configSchema } from '../../src/config/schema.ts';
import { Random } from '../../src/generate/random.ts';
import { WindowMaker } from './window-maker.ts';

describe('WindowMaker', () => {
  it('makes the same windows of numbers as of messages', () => {
    const random = new Random('window maker');
    const stages = ['queue', 'features', 'forward'];
    const maker = new WindowMaker(10_000);
    const memory = new MemoryWindows(configSchema.parse({}));
    // Few requests are kept as they are, many in buckets.
    const made = [300, 1, 30, 900].map((requests, at) => {
      const startMs = Date.UTC(2026, 10, 2) + at * 10_000;
      const durations = new Map(
        stages.map((name, i) => [
          name,
          Array.from({ length: requests }, () => random.lognormal(10 * (i + 1), 0.5)),
        ]),
      );
      for (let request = 0; request < requests; request++) {
        const ms = [...durations].map(([name, each]) => [name, each[request]]);
        const event = {
          ts: startMs,
          model: 'ranker',
          version: 'v1',
          stages_ms: Object.fromEntries(ms),
        };
        memory.consume(Buffer.from(JSON.stringify(event)));
      }
      return { startMs, windows: maker.make(startMs, 'v1', durations) };
    });
    expect([...memory.complete(true)]).toEqual(made);
    expect(memory.counts).toEqual({ events: 1_231, rejected: 0, late: 0 });
  });

  it('makes no series of a window without requests', () => {
    const maker = new WindowMaker(10_000);
    expect(maker.make(0, 'v1', new Map([['queue', []]]))).toEqual([]);
  });
});
