import { hourMs } from '../../src/base/time.ts';
import { TrafficProfile } from '../../src/baseline/traffic-profile.ts';
import type { TrafficBlock } from '../../src/detect/detector.ts';
import type { SeriesHour } from '../../src/detect/drift/drift-detectors.ts';
import type { Series, SeriesWindow } from '../../src/series/series-window.ts';
import { mulberry32, SeededRandom } from '../base/seeded-random.ts';
import { summarizeWindow } from '../scenarios/summarize-window.ts';

/** First and last window of a range. */
type Range = readonly [number, number];

interface Story {
  readonly model: string;
  readonly version: string;
  readonly requests: number;
  readonly present: readonly Range[];
  readonly slow: readonly {
    readonly windows: Range;
    readonly stage: string;
    readonly factor: number;
    readonly share: number;
  }[];
  /** Part of the requests that fail, a fifth of them by timeouts; one in a hundred otherwise. */
  readonly failing?: readonly { readonly windows: Range; readonly share: number }[];
  /** Requests a window in ranges that differ from the baseline. */
  readonly others?: readonly { readonly windows: Range; readonly requests: number }[];
  readonly coldStart?: boolean;
  /** First window with stages beside queue and forward. */
  readonly parseFrom?: number;
}

const always: Range = [0, 899];

/**
 * Faults, deploys, gaps, a persistent shift, unstable series, failures, a version that comes for good and
 * goes.
 */
const stories: readonly Story[] = [
  {
    ...{ model: 'steady', version: 'v1', requests: 90, present: [[0, 399]] },
    slow: [
      { windows: [120, 150], stage: 'forward', factor: 4, share: 0.4 },
      { windows: [134, 150], stage: 'queue', factor: 60, share: 0.8 },
      { windows: [180, 190], stage: 'forward', factor: 4, share: 0.3 },
      { windows: [200, 214], stage: 'forward', factor: 4, share: 0.3 },
    ],
  },
  {
    // Its successor, which gets a third stage while it is young.
    ...{ model: 'steady', version: 'v2', requests: 90, present: [[380, 899]], parseFrom: 393 },
    slow: [
      { windows: [500, 540], stage: 'forward', factor: 3, share: 0.3 },
      { windows: [522, 540], stage: 'forward', factor: 30, share: 0.3 },
    ],
  },
  {
    ...{ model: 'shifted', version: '', requests: 60, present: [always] },
    slow: [{ windows: [150, 899], stage: 'forward', factor: 2.5, share: 1 }],
  },
  {
    ...{
      model: 'gone',
      version: '',
      requests: 60,
      present: [
        [0, 230],
        [262, 300],
        [500, 640],
      ],
    },
    slow: [
      { windows: [225, 230], stage: 'forward', factor: 9, share: 1 },
      { windows: [296, 300], stage: 'forward', factor: 9, share: 1 },
    ],
  },
  {
    ...{ model: 'restless', version: '', requests: 40, present: [always] },
    slow: Array.from({ length: 40 }, (_, i) => ({
      ...{ windows: [20 + 22 * i, 20 + 22 * i + (i % 4)] as const, stage: 'queue' },
      ...{ factor: 8, share: 0.15 },
    })),
  },
  {
    // A deploy during failures, a fault that persists, and less traffic than before.
    ...{ model: 'failing', version: 'v1', requests: 80, present: [[0, 231]], slow: [] },
    failing: [
      { windows: [120, 140], share: 0.3 },
      { windows: [215, 899], share: 0.2 },
    ],
  },
  {
    ...{ model: 'failing', version: 'v2', requests: 80, present: [[229, 899]], slow: [] },
    failing: [
      { windows: [229, 300], share: 0.2 },
      { windows: [262, 300], share: 0.9 },
      { windows: [420, 899], share: 0.3 },
    ],
    others: [{ windows: [310, 380], requests: 12 }],
  },
  // A canary that is seen for a while and is followed by another one, long after it was forgotten.
  { model: 'canary', version: 'v1', requests: 50, present: [[100, 130]], slow: [] },
  {
    model: 'canary',
    version: 'v2',
    requests: 50,
    present: [
      [128, 131],
      [178, 200],
    ],
    parseFrom: 195,
    slow: [],
  },
  // Too many cold starts for a while, and later permanently.
  { model: 'waking', version: '', requests: 70, present: [always], slow: [] },
  {
    ...{ model: 'waking', version: '', coldStart: true, requests: 1, present: [always], slow: [] },
    others: [
      { windows: [150, 200], requests: 40 },
      { windows: [420, 899], requests: 40 },
    ],
  },
];

const has = (ranges: readonly Range[], window: number) =>
  ranges.some(([first, last]) => window >= first && window <= last);

/** Fifteen minutes of faults for each of several series, in ten-second windows: two and a half hours. */
export function eventfulWindows(windowMs: number) {
  const startMs = Date.UTC(2026, 10, 1, 6);
  const windows: SeriesWindow[][] = Array.from({ length: always[1] + 1 }, () => []);
  stories.forEach((story, index) => {
    const random = new SeededRandom(4_000 + index, mulberry32);
    windows.forEach((present, window) => {
      if (!has(story.present, window)) return;
      const windowStartMs = startMs + window * windowMs;
      const stages = samplesOf(story, window, random);
      const failed = failedOf(story, window, random);
      const series = seriesOf(story);
      present.push(summarizeWindow({ series, windowStartMs, windowMs, stages, failed }));
    });
  });
  const traffic = trafficBefore(startMs, windowMs);
  return { windows, startMs, traffic, hours: hoursBefore(startMs) };
}

/** Two models that were slower on the last day than a week before: one stays slower, the other recovers. */
function hoursBefore(startMs: number): SeriesHour[] {
  return Array.from({ length: 8 * 24 }, (_, n) => n).flatMap((n) =>
    ['steady', 'failing'].map((model) => {
      // Makes all ratios distinct.
      const ripple = 1 + 0.02 * Math.sin(n * n);
      const forward = (n < 7 * 24 ? 35 : 50) * ripple;
      const meansMs = new Map([
        ['queue', 5],
        ['forward', forward],
        ['total', 5 + forward],
      ]);
      const hour = {
        ...{ startMs: startMs - (8 * 24 - n) * hourMs, stage: 'total', requests: 30_000 },
        ...{ quantilesMs: [1.6 * forward, 2 * forward], meansMs },
      };
      return { series: seriesOf({ model, version: '' }), hour };
    }),
  );
}

/** Requests of each model in the eight days before, by blocks of ten minutes, always the same. */
function trafficBefore(startMs: number, windowMs: number): TrafficBlock[] {
  const { blockMs } = TrafficProfile;
  const perBlock = (model: string) => {
    const { requests } = stories.find((story) => story.model === model) as Story;
    return (requests * blockMs) / windowMs;
  };
  const models = ['gone', 'failing'].map((model) => ({ model, requests: perBlock(model) }));
  return Array.from({ length: (8 * 86_400_000) / blockMs }, (_, n) => {
    const atMs = startMs - 8 * 86_400_000 + n * blockMs;
    return models.map((block) => ({ ...block, startMs: atMs }));
  }).flat();
}

function failedOf({ failing = [], ...story }: Story, window: number, random: SeededRandom) {
  const share = failing.findLast(({ windows }) => has([windows], window))?.share ?? 0.01;
  const failed = { errors: 0, timeouts: 0 };
  for (let request = 0; request < requestsOf(story, window); request++) {
    if (random.unit() >= share) continue;
    failed[random.unit() < 0.2 ? 'timeouts' : 'errors'] += 1;
  }
  return failed;
}

function requestsOf({ requests, others = [] }: Story, window: number): number {
  return others.find(({ windows }) => has([windows], window))?.requests ?? requests;
}

function samplesOf(story: Story, window: number, random: SeededRandom): Map<string, number[]> {
  const totals = new Array<number>(requestsOf(story, window)).fill(0);
  const medians: [string, number][] = [
    ['queue', 5],
    ['forward', 50],
  ];
  if (window >= (story.parseFrom ?? Number.POSITIVE_INFINITY)) medians.push(['parse', 2]);
  const samples = new Map<string, number[]>();
  for (const [stage, medianMs] of medians) {
    const faults = story.slow.filter((slow) => slow.stage === stage && has([slow.windows], window));
    const values = totals.map((_, request) => {
      let ms = medianMs * Math.exp(0.3 * random.normal());
      for (const { factor, share } of faults) if (random.unit() < share) ms *= factor;
      totals[request] = (totals[request] as number) + ms;
      return ms;
    });
    samples.set(stage, values);
  }
  return samples.set('total', totals);
}

function seriesOf({
  model,
  version,
  coldStart = false,
}: Pick<Story, 'model' | 'version' | 'coldStart'>): Series {
  const absent = { service: '', request_type: '', region: '', host: '', tenant: '' };
  return { ...absent, model, version, cold_start: coldStart };
}
