import { expect, test } from 'vitest';
import { LogClock } from '../../src/assemble/log-clock.ts';
import { freshStart, TraceAssembler } from '../../src/assemble/trace-assembler.ts';
import { settings } from './assemble-messages.ts';
import { lineSink, spanOf } from './restart-world.ts';

test('a hundred thousand spans of one trace need the memory of max_spans, and close as too many', () => {
  const lines: string[] = [];
  const limits = { ...settings, maxSpansPerTrace: 3 };
  const assembler = new TraceAssembler(freshStart(0, limits), limits, lineSink(lines));
  assembler.beginRecord(0, 1);
  for (let id = 1; id <= 100_000; id++) assembler.add('t', spanOf(id), id);
  expect(assembler.openBytes).toBe(300);
  assembler.tick();
  expect(lines).toEqual(['t @0 wait [1 2 3] 99997 0']);
});

test.each([
  ['max_open_traces', { maxOpenTraces: 2 }],
  ['max_bytes', { maxBytes: 250 }],
] as const)('beyond %s the oldest trace closes, and its spans are late', (cause, limit) => {
  const lines: string[] = [];
  const limits = { ...settings, ...limit };
  const assembler = new TraceAssembler(freshStart(0, limits), limits, lineSink(lines));
  assembler.beginRecord(0, 1);
  ['a', 'b', 'c', 'a'].forEach((id, i) => {
    assembler.add(id, spanOf(i + 1), i);
  });
  expect(lines).toEqual([`a @0 ${cause} [1] 0 0`, 'a late 4 @0']);
});

test('max_trace closes a trace whose spans keep coming', () => {
  const lines: string[] = [];
  const assembler = new TraceAssembler(freshStart(0, settings), settings, lineSink(lines));
  for (let i = 0; i <= 30; i++) {
    assembler.beginRecord(i, 1e12 + i * 10_000);
    assembler.add('t', spanOf(i + 1), 0);
  }
  expect(lines).toHaveLength(2);
  expect(lines[0]).toContain('t @0 max_trace');
  expect(lines[1]).toBe('t late 31 @30');
});

test('neither a wrong clock among others nor a pause in the traffic moves the time', () => {
  const clock = new LogClock();
  clock.observe(1_000_000);
  for (let i = 1; i <= 100; i++) {
    clock.observe(1_000_000 + i);
    clock.observe(9_999_999_999);
    clock.observe(0);
  }
  expect(clock.nowMs).toBe(100);
  for (let i = 0; i < 40; i++) clock.observe(5_000_000 + i);
  expect(clock.nowMs).toBe(100 + 10);
});

test.each([40_000, 70_000, 3_600_000])('traces after a pause of %d ms are whole', (pauseMs) => {
  const lines: string[] = [];
  const assembler = new TraceAssembler(freshStart(0, settings), settings, lineSink(lines));
  let offset = 0;
  const burst = (name: string, atMs: number) => {
    // The root of each of 40 traces comes half a second after its child.
    const records = Array.from({ length: 40 }, (_, n) => [
      { id: `${name}${n}`, span: 1, ms: atMs + n * 20 },
      { id: `${name}${n}`, span: 2, ms: atMs + n * 20 + 500 },
    ]);
    for (const { id, span, ms } of records.flat().sort((a, b) => a.ms - b.ms)) {
      assembler.beginRecord(offset++, ms);
      assembler.add(id, spanOf(span), 0);
    }
  };
  burst('a', 1e12);
  burst('b', 1e12 + pauseMs);
  burst('c', 1e12 + 2 * pauseMs);
  while (assembler.openTraces > 0) assembler.tick();
  expect(lines.filter((line) => !line.includes('wait [1 2] 0 0'))).toEqual([]);
  expect(lines).toHaveLength(120);
});
