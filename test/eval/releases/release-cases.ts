/** A version that comes with the windows of a series, in every request or in some beside its predecessor. */
export interface Release {
  /** Windows after the first release. */
  readonly at: number;
  /** Part of the traffic that it receives. */
  readonly share: number;
  /** Factor of its `forward` over the first version's, by the number of windows since it came. */
  readonly factorAt: (age: number) => number;
}

/** A release, and the requirements on the detector. */
export interface ReleaseCase {
  readonly name: string;
  readonly ratePerSecond: number;
  readonly releases: readonly Release[];
  /** Length after the first release, in windows. */
  readonly windows: number;
  /** Longest time until it is reported; undefined where no page is wanted. */
  readonly withinSeconds?: number;
  /** Least number of pages, where more than one is wanted. */
  readonly leastPages?: number;
  /** Most pages. */
  readonly mostPages: number;
}

const minute = 6;
const hour = 60 * minute;

const one = (share: number, factor: number): readonly Release[] => [
  { at: 0, share, factorAt: () => factor },
];
/** A new version an hour, each of all traffic. */
const hourly = (releases: number, factorAt: (release: number, age: number) => number): Release[] =>
  Array.from({ length: releases }, (_, i) => ({
    at: i * hour,
    share: 1,
    factorAt: (age: number) => factorAt(i, age),
  }));

export const releaseCases: readonly ReleaseCase[] = [
  {
    ...{ name: 'all traffic, 10 times as slow', ratePerSecond: 10, releases: one(1, 10) },
    ...{ windows: 30 * minute, withinSeconds: 120, mostPages: 1 },
  },
  {
    ...{ name: 'all traffic, 3 times as slow', ratePerSecond: 10, releases: one(1, 3) },
    ...{ windows: 30 * minute, withinSeconds: 120, mostPages: 1 },
  },
  {
    ...{ name: 'a canary of 10 %, 3 times as slow', ratePerSecond: 10, releases: one(0.1, 3) },
    ...{ windows: 30 * minute, withinSeconds: 600, mostPages: 1 },
  },
  {
    ...{ name: 'a canary of 1 %, 10 times as slow', ratePerSecond: 25, releases: one(0.01, 10) },
    ...{ windows: hour, withinSeconds: 3_600, mostPages: 1 },
  },
  {
    name: 'three times as slow for good, a release an hour',
    ratePerSecond: 10,
    releases: hourly(6, () => 3),
    ...{ windows: 6 * hour, withinSeconds: 120, mostPages: 1 },
  },
  {
    name: 'three times as slow, rolled back after ten minutes, tried again an hour later',
    ratePerSecond: 10,
    releases: [
      { at: 0, share: 1, factorAt: () => 3 },
      { at: 10 * minute, share: 1, factorAt: () => 1 },
      { at: hour, share: 1, factorAt: () => 3 },
    ],
    ...{ windows: 70 * minute, withinSeconds: 120, leastPages: 2, mostPages: 2 },
  },
  {
    ...{ name: 'as fast as before', ratePerSecond: 10, releases: one(1, 1) },
    ...{ windows: 3 * hour, mostPages: 0 },
  },
  {
    ...{ name: 'a canary of 10 %, as fast', ratePerSecond: 10, releases: one(0.1, 1) },
    ...{ windows: 3 * hour, mostPages: 0 },
  },
  {
    ...{ name: 'a tenth slower', ratePerSecond: 10, releases: one(1, 1.1) },
    ...{ windows: 3 * hour, mostPages: 0 },
  },
  {
    ...{ name: 'a canary of 10 %, a tenth slower', ratePerSecond: 10, releases: one(0.1, 1.1) },
    ...{ windows: 3 * hour, mostPages: 0 },
  },
  {
    ...{ name: 'a fifth faster', ratePerSecond: 10, releases: one(1, 0.8) },
    ...{ windows: 3 * hour, mostPages: 0 },
  },
  {
    ...{ name: 'twice as fast', ratePerSecond: 10, releases: one(1, 0.5) },
    ...{ windows: 3 * hour, mostPages: 0 },
  },
  {
    name: 'a release an hour, each as fast as the first',
    ratePerSecond: 10,
    releases: hourly(12, () => 1),
    ...{ windows: 12 * hour, mostPages: 0 },
  },
  {
    name: 'a release an hour, each a tenth slower than the one before',
    ratePerSecond: 10,
    releases: hourly(12, (release) => 1.1 ** (release + 1)),
    ...{ windows: 12 * hour, mostPages: 0 },
  },
  {
    name: 'a release an hour, each 3 times as slow for its first two minutes',
    ratePerSecond: 10,
    releases: hourly(12, (_, age) => (age < 2 * minute ? 3 : 1)),
    ...{ windows: 12 * hour, mostPages: 1 },
  },
];
