import { expect, it } from 'vitest';
import { hourMs } from '../../../src/base/time.ts';
import { configSchema } from '../../../src/config/schema.ts';
import { FlapHistory } from '../../../src/detect/lifecycle/flap-history.ts';

const { detect } = configSchema.parse({ detect: { resolve_windows: 3 } });

/** Clear windows that a new anomaly needs, and the time within which it decays, by what was before it. */
function policyAfter(opened: readonly number[], decayed: readonly number[], nowMs: number) {
  const history = new FlapHistory();
  for (const ms of opened) history.opened(ms);
  for (const ms of decayed) history.decayed(ms);
  return history.resolvePolicy(nowMs, detect);
}

it('doubles the clear windows for each anomaly of the last hour, four times at most', () => {
  const now = 30 * hourMs;
  const minutesAgo = (...ago: number[]) => ago.map((minutes) => now - minutes * 60_000);
  expect(policyAfter([], [], now).clearWindows).toBe(3);
  expect(policyAfter(minutesAgo(59), [], now).clearWindows).toBe(6);
  expect(policyAfter(minutesAgo(60), [], now).clearWindows).toBe(3);
  expect(policyAfter(minutesAgo(40, 20, 10), [], now).clearWindows).toBe(24);
  expect(policyAfter(minutesAgo(50, 40, 30, 20, 10), [], now).clearWindows).toBe(48);
});

it('doubles the time to decay for each anomaly that decayed on the last day', () => {
  const now = 30 * hourMs;
  expect(policyAfter([], [], now).decayedMs).toBe(hourMs);
  expect(policyAfter([], [now - 23 * hourMs, now - hourMs], now).decayedMs).toBe(4 * hourMs);
  expect(policyAfter([], [now - 24 * hourMs], now).decayedMs).toBe(hourMs);
});

it('counts only anomalies that blame the same stage', () => {
  const history = new FlapHistory();
  history.opened(hourMs, 'features');
  history.decayed(hourMs, 'features');
  const policyOf = (stage: string) => history.resolvePolicy(hourMs + 60_000, detect, stage);
  expect(policyOf('features')).toEqual({ clearWindows: 6, decayedMs: 2 * hourMs });
  expect(policyOf('queue')).toEqual({ clearWindows: 3, decayedMs: hourMs });
});

it('forgets anomalies of windows that are evaluated again', () => {
  const history = new FlapHistory();
  history.opened(hourMs);
  history.opened(hourMs + 60_000);
  history.forgetFrom(hourMs + 60_000);
  expect(history.resolvePolicy(hourMs + 120_000, detect).clearWindows).toBe(6);
});
