import { describe, expect, it } from 'vitest';
import { ArrivalProcess } from '../../src/generate/arrival-process.ts';
import { defaultFleet } from '../../src/generate/default-fleet.ts';
import type { ArrivalProfile } from '../../src/generate/model-profile.ts';
import { Random } from '../../src/generate/random.ts';

const llm = defaultFleet.find(({ name }) => name === 'llm');
const arrivalsOf = (type: string) =>
  llm?.requestTypes.find(({ name }) => name === type)?.arrivals as ArrivalProfile;

/** Counts per 100 ms over a number of hours. */
function counts(profile: ArrivalProfile, ratePerSecond: number, hours: number, dailySwing = 0) {
  const process = new ArrivalProcess({
    profile,
    ratePerSecond,
    dailySwing,
    peakHour: 13,
    sliceMs: 100,
    random: new Random(`${ratePerSecond}`),
  });
  const into: number[] = [];
  return Float64Array.from({ length: hours * 36_000 }, (_, slice) => {
    into.length = 0;
    return process.next(slice, slice * 100, 1, into);
  });
}

/** Variance of the rate relative to its squared mean, over spans: what Poisson noise leaves. */
function relativeVariance(slices: Float64Array, slicesPerSpan: number): number {
  const spans = Math.floor(slices.length / slicesPerSpan);
  let sum = 0;
  let squares = 0;
  for (let span = 0; span < spans; span++) {
    let count = 0;
    for (let n = 0; n < slicesPerSpan; n++) count += slices[span * slicesPerSpan + n] as number;
    sum += count;
    squares += count * count;
  }
  const mean = sum / spans;
  return (squares / spans - mean * mean - mean) / (mean * mean);
}

describe('ArrivalProcess', () => {
  // What the fitted traces measure; docs/explained/traffic.md has the whole table.
  it('clusters like the trace of conversations, from 1 s to 1 minute', () => {
    const slices = counts(arrivalsOf('chat'), 40, 24);
    expect(Math.abs(relativeVariance(slices, 10) / 0.0696 - 1)).toBeLessThan(0.2);
    expect(Math.abs(relativeVariance(slices, 100) / 0.0516 - 1)).toBeLessThan(0.2);
    expect(Math.abs(relativeVariance(slices, 600) / 0.0454 - 1)).toBeLessThan(0.25);
  });

  it('clusters like the trace of editors, from 1 s to 1 minute', () => {
    const slices = counts(arrivalsOf('completion'), 2.5664, 96);
    expect(Math.abs(relativeVariance(slices, 10) / 4.75 - 1)).toBeLessThan(0.3);
    expect(Math.abs(relativeVariance(slices, 100) / 2.76 - 1)).toBeLessThan(0.3);
    expect(Math.abs(relativeVariance(slices, 600) / 1.08 - 1)).toBeLessThan(0.35);
  });

  it('keeps the mean rate, and follows the time of day where it is asked to', () => {
    const slices = counts(arrivalsOf('chat'), 50, 48, 0.6);
    const hour = (n: number) => slices.slice(n * 36_000, (n + 1) * 36_000);
    const sum = (part: Float64Array) => part.reduce((total, count) => total + count, 0);
    expect(Math.abs(sum(slices) / (48 * 3_600 * 50) - 1)).toBeLessThan(0.03);
    const peak = sum(hour(12)) + sum(hour(13)) + sum(hour(36)) + sum(hour(37));
    const night = sum(hour(0)) + sum(hour(1)) + sum(hour(24)) + sum(hour(25));
    // 1 + 0.6 at the peak, 1 - 0.42 in the night.
    expect(peak / night).toBeGreaterThan(2.2);
    expect(peak / night).toBeLessThan(3.4);
  });

  it('puts every arrival inside its slice, and more arrivals leave the first ones in place', () => {
    const open = () =>
      new ArrivalProcess({
        profile: arrivalsOf('chat'),
        ratePerSecond: 500,
        dailySwing: 0,
        peakHour: 0,
        sliceMs: 100,
        random: new Random(1),
      });
    const [plain, tripled] = [open(), open()];
    for (let slice = 0; slice < 50; slice++) {
      const few: number[] = [];
      const many: number[] = [];
      expect(plain.next(slice, 0, 1, few)).toBe(few.length);
      tripled.next(slice, 0, 3, many);
      expect(few.every((offsetMs) => offsetMs >= 0 && offsetMs < 100)).toBe(true);
      expect(many.length).toBeGreaterThan(few.length);
      expect(many.slice(0, few.length)).toEqual(few);
    }
    expect(open().next(0, 0, 0, [])).toBe(0);
  });
});
