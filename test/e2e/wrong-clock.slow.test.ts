import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { useStack } from '../containers/stack.ts';
import { benchMessages } from './kit/bench-messages.ts';
import { poll } from './kit/poll.ts';
import { startIngester } from './kit/start-ingester.ts';
import { withRig } from './kit/with-rig.ts';

const stack = useStack();
const events = 300;

/** Shifts the wall clock of a process by the milliseconds that a file holds. */
const shifting = `
import { readFileSync } from 'node:fs';
const real = Date.now;
let shiftMs = 0;
const read = () => { shiftMs = Number(readFileSync(process.env.CLOCK_SHIFT_FILE, 'utf8')); };
read();
setInterval(read, 100).unref();
Date.now = () => real() + shiftMs;
`;

it('an ingester whose clock is six minutes slow reads nothing and is not ready; corrected, it loses nothing', () =>
  withRig({ stack, name: 'slow_clock' }, async (rig) => {
    const dir = mkdtempSync(join(tmpdir(), 'tailmark-clock-'));
    rig.atEnd(async () => rmSync(dir, { recursive: true, force: true }));
    const script = join(dir, 'shift.mjs');
    const shift = join(dir, 'shift');
    writeFileSync(script, shifting);
    writeFileSync(shift, '-360000');
    const { messages } = benchMessages('slow_clock', events, 1);
    await rig.publish(messages.map((value) => ({ value })));

    const child = rig.spawn(['run', '--roles', 'ingest,serve'], {
      NODE_OPTIONS: `--import=${pathToFileURL(script).href}`,
      CLOCK_SHIFT_FILE: shift,
    });
    await child.logged('no events are read until');
    await child.logged('partition assigned');
    await child.logged('running; health and metrics at');
    const url = /health and metrics at (http:[^"\s]+)/.exec(child.err())?.[1];
    const ready = await fetch(`${url}/readyz`);
    expect([ready.status, await ready.text()]).toEqual([
      503,
      expect.stringMatching(
        /^ingest: the clock of this machine is 3[56]\d\.\d s behind that of ClickHouse; no events are read until they are less than 150 s apart$/m,
      ),
    ]);
    const metrics = await (await fetch(`${url}/metrics`)).text();
    expect(metrics).toMatch(/^tailmark_clock_holds_reading 1$/m);
    expect(metrics).toMatch(/^tailmark_clock_ahead_seconds -3[56]\d/m);
    expect(await rig.consumed()).toBe(0);

    writeFileSync(shift, '0');
    await child.logged('the clock agrees with that of ClickHouse');
    await rig.untilConsumed(events);
    const [counts] = await rig.rows<{ good: unknown; bad: unknown }>(
      'SELECT sum(aggregated) AS good, sum(rejected) AS bad FROM flushes',
    );
    expect([Number(counts?.good), Number(counts?.bad)]).toEqual([events, 0]);
  }));

it('a detector whose clock is six minutes slow is not ready and says so; corrected, it is', () =>
  withRig({ stack, name: 'slow_detector' }, async (rig) => {
    const dir = mkdtempSync(join(tmpdir(), 'tailmark-clock-'));
    rig.atEnd(async () => rmSync(dir, { recursive: true, force: true }));
    const script = join(dir, 'shift.mjs');
    const shift = join(dir, 'shift');
    // Its minutes are shorter, so that it looks again soon.
    const hurried = `const every = setInterval;
      globalThis.setInterval = (action, ms, ...rest) => every(action, ms === 60_000 ? 500 : ms, ...rest);`;
    writeFileSync(script, `${shifting}${hurried}`);
    writeFileSync(shift, '-360000');
    const child = rig.spawn(['run', '--roles', 'detect,serve'], {
      NODE_OPTIONS: `--import=${pathToFileURL(script).href}`,
      CLOCK_SHIFT_FILE: shift,
    });
    await child.logged('running; health and metrics at');
    const url = /health and metrics at (http:[^"\s]+)/.exec(child.err())?.[1];
    const ready = await fetch(`${url}/readyz`);
    expect([ready.status, await ready.text()]).toEqual([
      503,
      expect.stringMatching(
        /^detect: the clock of this machine is 3[56]\d\.\d s behind that of ClickHouse; pages come as much later$/m,
      ),
    ]);
    const metrics = await (await fetch(`${url}/metrics`)).text();
    expect(metrics).toMatch(/^tailmark_clock_ahead_seconds -3[56]\d/m);
    // Only who reads events measures that.
    expect(metrics).not.toMatch(/^tailmark_clock_holds_reading /m);
    writeFileSync(shift, '0');
    await child.logged('the clock agrees with that of ClickHouse');
    await poll('ready', async () => (await fetch(`${url}/readyz`)).ok || undefined);
  }));

it('a partition whose events would all be rejected as future is paused, the other is not; it goes on when they are not', () =>
  withRig({ stack, name: 'paused', partitions: 2 }, async (rig) => {
    // The clock of the ingester alone is slow, as no other is there to show it.
    let [wallMs, elapsedMs] = [-360_000, 0];
    const clock = {
      ...systemClock,
      nowMs: () => systemClock.nowMs() + wallMs,
      elapsedMs: () => systemClock.elapsedMs() + elapsedMs,
    };
    const publish = (partition: number, tsMs: number) =>
      rig.publish(
        Array.from({ length: events }, (_, n) => ({
          partition,
          value: JSON.stringify({ ts: tsMs + n, model: 'm', stages_ms: { forward: 2 } }),
        })),
      );
    await publish(0, Date.now() - 10_000);
    await publish(1, Date.now() - 600_000);
    const ingester = await startIngester(rig, { clock });
    const problem =
      `ingest: ${rig.topic}/0 is paused at offset 0: ${events} of ${events} events would be rejected as future: ` +
      "is this machine's clock slow, or are the clocks of producers fast? (ingest.pause_above_rejected: 1 rejects them)";
    await poll('one is paused', () => ingester.problems().includes(problem) || undefined);
    await rig.untilConsumed(events);
    // Read again, it is paused again.
    elapsedMs += 60_000;
    const pauses = () => rig.logLines.filter((line) => line.includes('a partition is paused'));
    await poll('it is paused again', () => pauses().length === 2 || undefined);
    expect(ingester.problems()).toEqual([problem]);
    await publish(1, Date.now() - 600_000);
    await rig.untilConsumed(2 * events);

    wallMs = 0;
    elapsedMs += 60_000;
    await rig.untilConsumed(3 * events);
    expect(ingester.problems()).toEqual([]);
    await ingester.drain();
    const [counts] = await rig.rows<{ good: unknown; bad: unknown }>(
      'SELECT sum(aggregated) AS good, sum(rejected) AS bad FROM flushes',
    );
    expect([Number(counts?.good), Number(counts?.bad)]).toEqual([3 * events, 0]);
    await rig.expectVerified();
  }));
