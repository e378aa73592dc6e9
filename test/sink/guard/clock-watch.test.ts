import { expect, it } from 'vitest';
import type { Logger } from '../../../src/base/telemetry/log.ts';
import { createMetrics } from '../../../src/base/telemetry/metrics.ts';
import { ClockWatch } from '../../../src/sink/guard/clock-watch.ts';

function watched(maxFutureMs = 300_000) {
  const lines: string[] = [];
  const note = (level: string) => (_: unknown, text: string) => lines.push(`${level}: ${text}`);
  const clock = { nowMs: 0, elapsedMs: () => clock.nowMs };
  const metrics = createMetrics();
  const log = { info: note('info'), warn: note('warn'), error: note('error') } as unknown as Logger;
  const watch = new ClockWatch({ maxFutureMs, clock, log, metrics });
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
