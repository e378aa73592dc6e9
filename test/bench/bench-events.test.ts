import { describe, expect, it } from 'vitest';
import { benchEvents } from '../../bench/traffic/bench-events.ts';
import { timingEvent } from '../../src/decode/timing-event.ts';

describe('benchEvents', () => {
  it('gives as many events as asked for, the same bytes for a seed', () => {
    const run = (seed: number) => Buffer.concat([...benchEvents({ seed, count: 1_050 })]);
    const messages = [...benchEvents({ seed: 1, count: 1_050 })];
    expect(messages.map((message) => message.toString().split('\n').length)).toEqual([
      ...Array.from({ length: 10 }, () => 100),
      50,
    ]);
    expect(run(1).equals(run(1))).toBe(true);
    expect(run(1).equals(run(2))).toBe(false);
    expect([...benchEvents({ seed: 1, count: 0 })]).toEqual([]);
  });

  it('keeps the contract: eight stages that sum to the total, about 276 bytes', () => {
    const contract = timingEvent({ maxDurationMs: 3_600_000, maxDimensionBytes: 256 });
    const text = [...benchEvents({ seed: 3, count: 2_000, eventsPerMessage: 7 })].join('\n');
    const lines = text.split('\n');
    expect(lines.length).toBe(2_000);
    expect(Math.abs(text.length / 2_000 - 276)).toBeLessThan(3);
    const series = new Set<string>();
    for (const [n, line] of lines.entries()) {
      const event = contract.parse(JSON.parse(line));
      const stages = Object.values(event.stages_ms ?? {});
      expect(stages.length).toBe(8);
      const micros = stages.reduce((sum, ms) => sum + Math.round(ms * 1_000), 0);
      expect(Math.round((event.total_ms as number) * 1_000)).toBe(micros);
      expect(event.ts).toBe(1_789_000_000_000 + Math.floor(n / 100));
      series.add(`${event.model} ${event.version}`);
    }
    expect(series.size).toBe(20);
  });
});
