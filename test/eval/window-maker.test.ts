import { describe, expect, it } from 'vitest';
import { configSchema } from '../../src/config/schema.ts';
import { Random } from '../../src/generate/random.ts';
import { MemoryWindows } from '../../src/watch/memory-windows.ts';
import { WindowMaker } from './window-maker.ts';

describe('WindowMaker', () => {
  it('makes of numbers the very windows that messages make', () => {
    const random = new Random('window maker');
    const stages = ['queue', 'features', 'forward'];
    const maker = new WindowMaker(10_000);
    const memory = new MemoryWindows(configSchema.parse({}));
    const made = [0, 10_000, 20_000].map((at) => {
      const startMs = Date.UTC(2026, 10, 2) + at;
      maker.begin(startMs, 'v1');
      for (let request = 0; request < 300; request++) {
        const ms = stages.map((_, i) => random.lognormal(10 * (i + 1), 0.5));
        maker.add(stages, ms);
        const stages_ms = Object.fromEntries(stages.map((name, i) => [name, ms[i]]));
        const event = { ts: startMs, model: 'ranker', version: 'v1', stages_ms };
        memory.take(Buffer.from(JSON.stringify(event)));
      }
      return { startMs, windows: maker.end() };
    });
    expect([...memory.complete(true)]).toEqual(made);
    expect(memory.counts).toEqual({ events: 900, rejected: 0, late: 0 });
  });

  it('makes no series of a window without requests', () => {
    const maker = new WindowMaker(10_000);
    maker.begin(0, 'v1');
    expect(maker.end()).toEqual([]);
  });
});
