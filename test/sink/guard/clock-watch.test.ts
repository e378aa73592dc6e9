import { expect, it } from 'vitest';
import type { Logger } from '../../../src/base/telemetry/log.ts';
import { createMetrics, readMetrics, renderMetrics } from '../../../src/base/telemetry/metrics.ts';
import { ClockWatch } from '../../../src/sink/guard/clock-watch.ts';

function watched(maxFutureMs = 300_000) {
  const lines: string[] = [];
  const note = (level: string) => (_: unknown, text: string) => lines.push(`${level}: ${text}`);
  const clock = { nowMs: 0, elapsedMs: () => clock.nowMs };
  const metrics = createMetrics();
  const log = { info: note('info'), warn: note('warn'), error: note('error') } as unknown as Logger;
  const watch = new ClockWatch({ role: 'ingest', maxFutureMs, clock, log, metrics });
  const gauges = async () =>
    Promise.all(
      [metrics.clockAheadSeconds, metrics.clockHoldsReading].map(
        async (gauge) => (await gauge.get()).values[0]?.value,
      ),
    );
  return { watch, lines, clock, gauges };
}

it.each([
  ['agrees', 0, true, false],
  ['is 5 s ahead', 5_000, true, false],
  ['is more than 5 s ahead', 5_001, false, false],
  ['is more than 5 s behind', -5_001, false, false],
  ['is almost half of max_future behind', -149_999, false, false],
  ['is half of max_future behind', -150_000, false, true],
  ['is half of max_future ahead', 150_000, false, true],
])('a clock that %s', async (_, aheadMs, isReady, holdsReading) => {
  const { watch, gauges } = watched();
  watch.observe(aheadMs);
  expect([watch.problems().length === 0, watch.holdsReading]).toEqual([isReady, holdsReading]);
  expect(await gauges()).toEqual([aheadMs / 1000, holdsReading ? 1 : 0]);
});

it('says each change once, and for how long no events were read', () => {
  const { watch, lines, clock } = watched();
  watch.observe(20);
  clock.nowMs = 1_000;
  watch.observe(-360_000);
  clock.nowMs = 31_000;
  watch.observe(-360_010);
  const text =
    'the clock of this machine is 360.0 s behind that of ClickHouse; no events are read until they are ' +
    'less than 150 s apart';
  expect(watch.problems()).toEqual([`ingest: ${text}`]);
  expect(watch.heldMs()).toBe(30_000);
  watch.observe(-20_000);
  expect(watch.heldMs()).toBe(0);
  watch.observe(0);
  expect(watch.problems()).toEqual([]);
  expect(lines).toEqual([
    `error: ${text}`,
    'warn: the clock of this machine is 20.0 s behind that of ClickHouse',
    'info: the clock agrees with that of ClickHouse',
  ]);
});

it('holds events before 5 s where max_future is as small', () => {
  const { watch } = watched(4_000);
  watch.observe(1_999);
  expect(watch.holdsReading).toBe(false);
  watch.observe(-2_000);
  expect(watch.holdsReading).toBe(true);
});

it('of a detector says that pages come late by a slow clock, and never holds anything', async () => {
  const lines: string[] = [];
  const log = { warn: (_: unknown, text: string) => lines.push(text) } as unknown as Logger;
  const metrics = createMetrics();
  const values = async () => [
    (await metrics.clockAheadSeconds.get()).values.map(({ value }) => value),
    (await metrics.clockHoldsReading.get()).values.map(({ value }) => value),
  ];
  const watch = new ClockWatch({ role: 'detect', clock: { elapsedMs: () => 0 }, log, metrics });
  // Nothing is exported that was not measured.
  expect(await values()).toEqual([[], []]);
  expect(await renderMetrics([await readMetrics(metrics)])).not.toMatch(/^tailmark_clock_/m);
  watch.observe(-360_000);
  const text =
    'the clock of this machine is 360.0 s behind that of ClickHouse; pages come as much later';
  expect([watch.problems(), lines, watch.holdsReading]).toEqual([
    [`detect: ${text}`],
    [text],
    false,
  ]);
  expect(await values()).toEqual([[-360], []]);
  watch.observe(360_000);
  expect(watch.problems()).toEqual([
    'detect: the clock of this machine is 360.0 s ahead of that of ClickHouse',
  ]);
});

it('shows a slow clock of a thread, although the main thread has measured none', async () => {
  const thread = createMetrics();
  const log = { error: () => undefined } as unknown as Logger;
  const clock = { elapsedMs: () => 0 };
  new ClockWatch({ role: 'ingest', maxFutureMs: 4_000, clock, log, metrics: thread }).observe(
    -9_000,
  );
  const text = await renderMetrics([await readMetrics(createMetrics()), await readMetrics(thread)]);
  expect(text).toMatch(/^tailmark_clock_ahead_seconds -9$/m);
});
