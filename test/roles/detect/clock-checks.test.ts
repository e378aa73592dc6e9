import { expect, it } from 'vitest';
import { ClockChecks } from '../../../src/roles/detect/clock-checks.ts';

function checks(find: () => Promise<{ identity: string; clockAheadMs: number }>) {
  const seen: number[] = [];
  const timers: { ms: number; tick: () => void }[] = [];
  const watch = { observe: (aheadMs: number) => void seen.push(aheadMs), problems: () => ['late'] };
  const every = (ms: number, tick: () => void) => {
    timers.push({ ms, tick });
    return () => void timers.pop();
  };
  return { seen, timers, checks: new ClockChecks({ find, watch, clock: { every } }) };
}

it('compares the clocks at the start and each minute, also after one in vain', async () => {
  const answers = [-7_000, undefined, 3_000];
  const {
    seen,
    timers,
    checks: own,
  } = checks(async () => {
    const clockAheadMs = answers.shift();
    if (clockAheadMs === undefined) throw new Error('no response');
    return { identity: 'a', clockAheadMs };
  });
  expect(await own.start()).toEqual({ identity: 'a', clockAheadMs: -7_000 });
  expect([timers[0]?.ms, seen, own.problems()]).toEqual([60_000, [-7_000], ['late']]);
  for (let tick = 0; tick < 2; tick++) {
    timers[0]?.tick();
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(seen).toEqual([-7_000, 3_000]);
  own.stop();
  expect(timers).toEqual([]);
});

it('does not start where ClickHouse does not respond', async () => {
  const { timers, checks: own } = checks(() => Promise.reject(new Error('no response')));
  await expect(own.start()).rejects.toThrow('no response');
  expect(timers).toEqual([]);
});
