import { describe, expect, it } from 'vitest';
import { Random } from '../../src/generate/random.ts';
import { CompletedWindows, ofAllVersions, type VersionDurations } from './completed-windows.ts';

const windowMs = 10_000;
const newWindows = () => new CompletedWindows(windowMs, new Random('offsets'));
const started = (version: string, ...totals: readonly number[]): VersionDurations => ({
  version,
  // Half a second of each is the queue; a request's stages stay together.
  durations: new Map([
    ['queue', totals.map(() => 500)],
    ['forward', totals.map((ms) => ms - 500)],
  ]),
});
const many = (n: number, ms: number) => Array.from({ length: n }, () => ms);
const forwardOf = (parts: readonly VersionDurations[]) => [
  ...(ofAllVersions(parts).get('forward') ?? []),
];

describe('CompletedWindows', () => {
  it('counts requests of three windows in the third one after they started', () => {
    const completed = newWindows();
    const counts = [0, 1, 2, 3, 4].map((window) => {
      const ended = completed.complete(
        window,
        window === 0 ? [started('v1', ...many(50, 3e4))] : [],
      );
      return forwardOf(ended).length;
    });
    expect(counts).toEqual([0, 0, 0, 50, 0]);
    expect(completed.running).toBe(0);
  });

  it('moves each request to the next window with the chance that it ends there: T / window', () => {
    const completed = newWindows();
    const first = forwardOf(completed.complete(0, [started('v1', ...many(20_000, 4_000))]));
    expect(completed.running).toBe(20_000 - first.length);
    const next = forwardOf(completed.complete(1, []));
    expect(first.length + next.length).toBe(20_000);
    expect(next.length / 20_000).toBeGreaterThan(0.39);
    expect(next.length / 20_000).toBeLessThan(0.41);
  });

  it('keeps the stages of a request together, and versions apart', () => {
    const completed = newWindows();
    const fast = many(200, 600);
    const slow = many(100, 20_000);
    completed.complete(0, [started('v1', ...fast, ...slow)]);
    completed.complete(1, []);
    const ended = completed.complete(2, [started('v2', ...fast)]);
    expect(ended.map(({ version }) => version)).toEqual(['v1', 'v2']);
    expect(ended[0]?.durations).toEqual(started('', ...slow).durations);
    expect(new Set(ended[1]?.durations.get('forward'))).toEqual(new Set([100]));
    expect(forwardOf(ended)).toHaveLength(100 + (ended[1]?.durations.get('forward')?.length ?? 0));
  });

  it('gives the same for the same seed, whatever else was drawn before a window', () => {
    const totals = many(300, 2_000);
    const of = (before: readonly number[]) => {
      const completed = newWindows();
      completed.complete(6, [started('v1', ...before)]);
      return completed.complete(7, [started('v2', ...totals)]);
    };
    const ofV2 = (parts: readonly VersionDurations[]) =>
      parts.filter(({ version }) => version === 'v2');
    expect(ofV2(of(many(10, 5_000)))).toEqual(of([]));
  });

  it('loses no request of lognormal traffic, and holds only running ones', () => {
    const completed = newWindows();
    const random = new Random('lognormal');
    let [sent, ended] = [0, 0];
    for (let window = 0; window < 500; window++) {
      const totals = Array.from({ length: 30 }, () => 500 + random.lognormal(300, 0.5));
      if (window < 400) sent += totals.length;
      const parts = completed.complete(window, window < 400 ? [started('v1', ...totals)] : []);
      ended += forwardOf(parts).length;
      expect(completed.running).toBeLessThanOrEqual(30);
    }
    expect([ended, completed.running]).toEqual([sent, 0]);
  });
});
