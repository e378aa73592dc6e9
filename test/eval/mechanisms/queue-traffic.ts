import type { Random } from '../../../src/generate/random.ts';
import { windowMs } from '../null-families.ts';
import type { Traffic } from './mechanism.ts';

export interface QueueOptions {
  readonly servers: number;
  /** Of one service while the others are idle. */
  readonly medianMs: number;
  readonly sigma: number;
  /** By which part a service takes longer when all servers work. */
  readonly slowerWhenBusy: number;
  readonly ratePerSecond: (window: number) => number;
}

/**
 * Requests that wait for the first free one of some servers, in the order of their arrival: M/G/k, whose
 * service takes longer the more servers work. Slower service makes the queue longer, too.
 */
export function queueTraffic(random: Random, options: QueueOptions): Traffic {
  const { servers, medianMs, sigma, slowerWhenBusy, ratePerSecond } = options;
  const arrivals = random.split('arrivals');
  const requests = random.split('requests');
  const freeAtMs = new Float64Array(servers);
  return (window, fault) => {
    arrivals.seek(window, 0);
    const count = arrivals.poisson((ratePerSecond(window) * windowMs) / 1000);
    const atMs = Array.from({ length: count }, () => (window + arrivals.uniform()) * windowMs);
    atMs.sort((a, b) => a - b);
    const queue: number[] = [];
    const forward: number[] = [];
    atMs.forEach((arrivedMs, n) => {
      requests.seek(window, n);
      const isHit = requests.uniform() < (fault?.share ?? 0);
      let first = 0;
      let busy = 0;
      for (let i = 0; i < servers; i++) {
        if ((freeAtMs[i] as number) > arrivedMs) busy++;
        if ((freeAtMs[i] as number) < (freeAtMs[first] as number)) first = i;
      }
      const serviceMs =
        requests.lognormal(medianMs, sigma) *
        (1 + (slowerWhenBusy * busy) / servers) *
        (isHit ? (fault?.factorAt(window) ?? 1) : 1);
      const beginMs = Math.max(arrivedMs, freeAtMs[first] as number);
      freeAtMs[first] = beginMs + serviceMs;
      // What takes a request from the socket, whether or not it waits.
      queue.push(beginMs - arrivedMs + requests.lognormal(1, 0.5));
      forward.push(serviceMs);
    });
    return {
      version: 'v1',
      durations: new Map([
        ['queue', queue],
        ['forward', forward],
      ]),
    };
  };
}
