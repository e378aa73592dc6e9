import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { useStack } from '../containers/stack.ts';
import { benchMessages } from './kit/bench-messages.ts';
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
