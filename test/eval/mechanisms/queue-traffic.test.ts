import { expect, it } from 'vitest';
import { Random } from '../../../src/generate/random.ts';
import { queueTraffic } from './queue-traffic.ts';

const medianMs = 350;
const sigma = 0.5;
const meanMs = medianMs * Math.exp(sigma ** 2 / 2);
/** What a request waits without any other, by its own law. */
const ownMs = Math.exp(0.5 ** 2 / 2);

function meanWaitMs(servers: number, perServer: number, slowerWhenBusy: number): number {
  const ratePerSecond = () => (perServer * servers * 1000) / meanMs;
  const options = { servers, medianMs, sigma, slowerWhenBusy, ratePerSecond };
  const traffic = queueTraffic(new Random('queue'), options);
  let sum = 0;
  let requests = 0;
  for (let window = 0; window < 20_000; window++) {
    const waits = traffic(window, undefined).durations.get('queue') ?? [];
    for (const ms of waits) sum += ms - ownMs;
    requests += waits.length;
  }
  return sum / requests;
}

it('one server makes requests wait as Pollaczek and Khinchine say', () => {
  const used = 0.6;
  const squares = medianMs ** 2 * Math.exp(2 * sigma ** 2);
  const expectedMs = ((used / meanMs) * squares) / (2 * (1 - used));
  expect(Math.abs(meanWaitMs(1, used, 0) / expectedMs - 1)).toBeLessThan(0.03);
});

it('service that slows down with load makes the queue longer', () => {
  expect(meanWaitMs(8, 0.6, 0.4)).toBeGreaterThan(2 * meanWaitMs(8, 0.6, 0));
});
