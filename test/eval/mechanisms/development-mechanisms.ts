import type { Random } from '../../../src/generate/random.ts';
import { type Mechanism, requestsOf, type Traffic, wandering } from './mechanism.ts';
import { queueTraffic } from './queue-traffic.ts';

const minute = 6;
const hour = 60 * minute;
const day = 24 * hour;

/** 0 at midnight, 1 at noon. */
export const noonOf = (window: number) => (1 - Math.cos((2 * Math.PI * window) / day)) / 2;

export const developmentMechanisms: readonly Mechanism[] = [
  {
    ...{ name: 'servers', group: 'development', stage: 'forward', followers: ['queue'] },
    says: 'eight servers and one queue; the more of them work, the longer each takes; load by the day',
    traffic: (random) =>
      queueTraffic(random, {
        ...{ servers: 8, medianMs: 350, sigma: 0.5, slowerWhenBusy: 0.4 },
        ratePerSecond: (window) => 5 + 6 * noonOf(window),
      }),
  },
  {
    ...{ name: 'autoscaler', group: 'development', stage: 'forward', followers: ['queue'] },
    says: 'replicas follow a load that wanders, three minutes late',
    traffic: autoscaler,
  },
  {
    ...{ name: 'cache', group: 'development', stage: 'features', followers: [] },
    says: 'nine of ten requests find their features in a cache, whose hit rate wanders over half an hour',
    traffic: (random) => {
      const level = wandering(random.split('level'), 30 * minute);
      return requestsOf(['queue', 'features', 'forward'], random, () => {
        const hits = 1 / (1 + Math.exp(-2.2 - 0.5 * level()));
        return {
          ratePerSecond: 4,
          draw: (draws, slow) => [
            draws.lognormal(3, 0.6),
            slow(
              'features',
              draws.chance(hits) ? draws.lognormal(4, 0.4) : draws.lognormal(45, 0.4),
            ),
            draws.lognormal(40, 0.2),
          ],
        };
      });
    },
  },
  {
    ...{ name: 'answers', group: 'development', stage: 'decode', followers: [] },
    says: 'a language model: time by the tokens of an answer, whose lengths wander over an hour',
    traffic: (random) => {
      const lengths = wandering(random.split('lengths'), hour);
      const batches = wandering(random.split('batches'), 10 * minute);
      return requestsOf(['queue', 'prefill', 'decode'], random, () => {
        const tokens = 150 * Math.exp(0.15 * lengths());
        const perTokenMs = 20 * Math.exp(0.05 * batches());
        return {
          ratePerSecond: 3,
          draw: (draws, slow) => [
            draws.lognormal(50, 0.6),
            draws.lognormal(150, 0.6),
            slow('decode', draws.lognormal(tokens, 0.7) * draws.lognormal(perTokenMs, 0.1)),
          ],
        };
      });
    },
  },
  {
    ...{ name: 'crowds', group: 'development', stage: 'forward', followers: ['queue'] },
    says: 'every other day three times the traffic for some hours, in which all is a quarter slower',
    traffic: (random) => {
      const begins = random.split('crowds');
      return requestsOf(['queue', 'features', 'forward'], random, (window) => {
        begins.seek(Math.floor(window / (2 * day)), 0);
        const from = begins.uniform() * 1.8 * day;
        const length = (1 + 2 * begins.uniform()) * hour;
        const at = (window % (2 * day)) - from;
        const busy =
          at < 0 || at > length
            ? 0
            : Math.min(1, at / (10 * minute), (length - at) / (10 * minute));
        return {
          ratePerSecond: 3 * (1 + 2 * busy),
          draw: (draws, slow) => [
            draws.lognormal(4 * (1 + 0.5 * busy), 0.6),
            draws.lognormal(12, 0.4),
            slow('forward', draws.lognormal(50 * (1 + 0.25 * busy), 0.25)),
          ],
        };
      });
    },
  },
];

/** One replica serves 1.5 requests a second at three quarters of its capacity. */
function autoscaler(random: Random): Traffic {
  const load = wandering(random.split('load'), 10 * minute);
  const past: number[] = [];
  const perReplica = 1.5;
  return requestsOf(['queue', 'features', 'forward'], random, (window) => {
    const ratePerSecond = (3 + 4 * noonOf(window)) * Math.exp(0.25 * load());
    past.push(ratePerSecond);
    const seen = past.length > 3 * minute ? (past.shift() as number) : ratePerSecond;
    const replicas = Math.max(2, Math.ceil(seen / perReplica));
    const used = Math.min(0.95, (0.75 * ratePerSecond) / (replicas * perReplica));
    return {
      ratePerSecond,
      draw: (draws, slow) => [
        draws.lognormal(4 / (1 - used), 0.8),
        draws.lognormal(12, 0.4),
        slow('forward', draws.lognormal(45 * (1 + 0.5 * used * used), 0.25)),
      ],
    };
  });
}
