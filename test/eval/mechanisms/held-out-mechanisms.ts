import { drawMs } from '../traffic-model.ts';
import { noonOf } from './development-mechanisms.ts';
import { type Mechanism, requestsOf, wandering } from './mechanism.ts';

const minute = 6;
const hour = 60 * minute;
const day = 24 * hour;

/** Not to be looked at while the detector is changed: what they say is for the report alone. */
export const heldOutMechanisms: readonly Mechanism[] = [
  {
    ...{ name: 'garbage collector', group: 'held out', stage: 'forward', followers: [] },
    says: 'pauses that stop all requests, more of them the fuller the heap, which a restart empties',
    traffic: (random) =>
      requestsOf(['queue', 'features', 'forward'], random, (window) => {
        const full = (window % (50 * minute)) / (50 * minute);
        const pausesPerSecond = 0.05 + 0.4 * full * full;
        return {
          ratePerSecond: 4,
          draw: (draws, slow) => {
            const forwardMs = draws.lognormal(50, 0.25);
            const pauseMs = draws.lognormal(90, 0.5);
            const isPaused = draws.chance(
              Math.min(1, (pausesPerSecond * (forwardMs + pauseMs)) / 1000),
            );
            const waitedMs = isPaused ? draws.uniform() * pauseMs : 0;
            return [
              draws.lognormal(4, 0.6),
              draws.lognormal(12, 0.4),
              slow('forward', forwardMs) + waitedMs,
            ];
          },
        };
      }),
  },
  {
    ...{ name: 'batches', group: 'held out', stage: 'forward', followers: [] },
    says: 'requests wait until eight are there or 25 ms have passed; a batch takes longer the fuller it is',
    traffic: (random) => {
      const load = wandering(random.split('load'), 20 * minute);
      return requestsOf(['batch_wait', 'forward', 'postprocess'], random, (window) => {
        const allPerSecond = 300 * (0.4 + noonOf(window)) * Math.exp(0.3 * load());
        const fillMs = Math.min(25, (8 / allPerSecond) * 1000);
        const size = Math.min(8, (allPerSecond * fillMs) / 1000);
        return {
          // One request in a hundred is traced.
          ratePerSecond: allPerSecond / 100,
          draw: (draws, slow) => [
            draws.uniform() * fillMs,
            slow('forward', draws.lognormal(20 + 4 * size, 0.15)),
            draws.lognormal(3, 0.5),
          ],
        };
      });
    },
  },
  {
    ...{ name: 'retries', group: 'held out', stage: 'downstream', followers: [] },
    says: 'one call in fifty fails and is tried again after 100 ms, then 200 ms; the share that fails wanders',
    traffic: (random) => {
      const level = wandering(random.split('level'), 15 * minute);
      return requestsOf(['features', 'forward', 'downstream'], random, () => {
        const fails = Math.min(0.5, 0.02 * Math.exp(0.7 * level()));
        return {
          ratePerSecond: 4,
          draw: (draws, slow) => {
            let downstreamMs = draws.lognormal(25, 0.4);
            for (let tried = 0; tried < 3 && draws.chance(fails); tried++) {
              downstreamMs += 100 * 2 ** tried * (0.5 + draws.uniform()) + draws.lognormal(25, 0.4);
            }
            return [
              draws.lognormal(12, 0.4),
              draws.lognormal(40, 0.2),
              slow('downstream', downstreamMs),
            ];
          },
        };
      });
    },
  },
  {
    ...{ name: 'unequal hosts', group: 'held out', stage: 'forward', followers: [] },
    says: 'four hosts of different speeds, between which a balancer moves the traffic',
    traffic: (random) => {
      const levels = [1, 1.1, 1.3, 1.7].map((slower, i) => ({
        slower,
        weight: wandering(random.split(`host ${i}`), 20 * minute),
      }));
      return requestsOf(['queue', 'features', 'forward'], random, () => {
        const hosts = levels.map(({ slower, weight }) => ({
          ...{ medianMs: 45 * slower, sigma: 0.2, weight: Math.exp(0.5 * weight()) },
        }));
        const sum = hosts.reduce((total, { weight }) => total + weight, 0);
        const parts = hosts.map((host) => ({ ...host, weight: host.weight / sum }));
        return {
          ratePerSecond: 4,
          draw: (draws, slow) => [
            draws.lognormal(4, 0.6),
            draws.lognormal(12, 0.4),
            slow('forward', drawMs(parts, draws)),
          ],
        };
      });
    },
  },
  {
    ...{ name: 'sessions', group: 'held out', stage: 'forward', followers: [] },
    says: 'a customer with requests twice as heavy comes for some minutes, about every forty',
    traffic: (random) => {
      const comes = random.split('comes');
      let left = 0;
      return requestsOf(['queue', 'features', 'forward'], random, () => {
        if (left > 0) left--;
        else if (comes.chance(1 / (40 * minute))) left = Math.ceil(comes.exponential(5 * minute));
        const heavyShare = left > 0 ? 0.2 : 0.01;
        return {
          ratePerSecond: left > 0 ? 5 : 4,
          draw: (draws, slow) => [
            draws.lognormal(4, 0.6),
            draws.lognormal(12, 0.4),
            slow('forward', draws.lognormal(draws.chance(heavyShare) ? 100 : 45, 0.25)),
          ],
        };
      });
    },
  },
  {
    ...{ name: 'levels', group: 'held out', stage: 'forward', followers: [] },
    says: 'every few hours another level of all durations, a tenth up or down, as a noisy neighbour moves',
    traffic: (random) => {
      const moves = random.split('moves');
      let level = moves.normal();
      return requestsOf(['queue', 'features', 'forward'], random, () => {
        if (moves.chance(1 / (5 * hour))) level = moves.normal();
        return {
          ratePerSecond: 4,
          draw: (draws, slow) => [
            draws.lognormal(4, 0.6),
            draws.lognormal(12 * Math.exp(0.1 * level), 0.4),
            slow('forward', draws.lognormal(45 * Math.exp(0.1 * level), 0.25)),
          ],
        };
      });
    },
  },
  {
    ...{ name: 'rebuilt every hour', group: 'held out', stage: 'forward', followers: [] },
    says: 'in the first four minutes of each hour two of five requests wait for a table that is rebuilt',
    traffic: (random) =>
      requestsOf(['queue', 'features', 'forward'], random, (window) => {
        const isJob = window % hour < 4 * minute;
        return {
          ratePerSecond: 4,
          draw: (draws, slow) => [
            draws.lognormal(4, 0.6),
            draws.lognormal(isJob && draws.chance(0.4) ? 40 : 12, 0.4),
            slow('forward', draws.lognormal(45, 0.25)),
          ],
        };
      }),
  },
  {
    ...{ name: 'Monday rush', group: 'held out', stage: 'forward', followers: ['queue'] },
    says: 'on Mondays from eight to ten three times the traffic, half as slow again',
    traffic: (random) =>
      requestsOf(['queue', 'features', 'forward'], random, (window) => {
        const at = window % (7 * day);
        const isRush = at >= 8 * hour && at < 10 * hour;
        const noon = noonOf(window);
        return {
          ratePerSecond: (2 + 2 * noon) * (isRush ? 3 : 1),
          draw: (draws, slow) => [
            draws.lognormal(isRush ? 8 : 4, 0.6),
            draws.lognormal(12, 0.4),
            slow('forward', draws.lognormal(isRush ? 68 : 45, 0.25)),
          ],
        };
      }),
  },
  {
    ...{ name: 'scale to zero', group: 'held out', stage: 'forward', followers: [] },
    says: 'no traffic at night; the first minutes of the morning are four times as slow',
    traffic: (random) =>
      requestsOf(['queue', 'features', 'forward'], random, (window) => {
        const at = window % day;
        const sinceMorning = at - 6 * hour;
        return {
          ratePerSecond: sinceMorning >= 0 && at < 22 * hour ? 4 : 0,
          draw: (draws, slow) => [
            draws.lognormal(4, 0.6),
            draws.lognormal(12, 0.4),
            slow('forward', draws.lognormal(sinceMorning < 2 * minute ? 180 : 45, 0.25)),
          ],
        };
      }),
  },
  {
    ...{ name: 'two a minute', group: 'held out', stage: 'forward', followers: [] },
    says: 'twenty requests in ten minutes',
    traffic: (random) =>
      requestsOf(['queue', 'features', 'forward'], random, () => ({
        ratePerSecond: 1 / 30,
        draw: (draws, slow) => [
          draws.lognormal(4, 0.6),
          draws.lognormal(12, 0.4),
          slow('forward', draws.lognormal(45, 0.25)),
        ],
      })),
  },
];
