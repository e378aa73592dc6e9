import { execFileSync } from 'node:child_process';
import { cpus } from 'node:os';
import { TDigest as NpmDigest } from 'tdigest';
import { bandOf } from '../src/sketch/band.ts';
import { BandPool } from '../src/sketch/band-pool.ts';
import { type CountHost, CountKernel, kernelBytes } from '../src/sketch/count-kernel.ts';
import { SketchPool, stateCentroids } from '../src/sketch/sketch-pool.ts';
import { TDigest } from '../src/sketch/t-digest.ts';
import { weyl32 } from '../test/base/seeded-random.ts';
import { drawDistribution } from '../test/sketch/distributions.ts';

// What adding a duration costs, beside npm tdigest; reading and merging ours. Prints one JSON
// document: nanoseconds of CPU an operation, median and spread over rounds run alternately.

const count = 200_000;
const rounds = 9;
/** A question is asked again and again in its round until this much CPU time is used. */
const leastUs = 50_000;
const values = drawDistribution('lognormal', count, 1);
const means = new Float64Array(stateCentroids);
const weights = new Float64Array(stateCentroids);
const pool = new SketchPool();
const bands = new BandPool();

/**
 * Values come as requests have them: ten stages at once, each of a slot of its own where there are as many,
 * and the next request is of another series.
 */
const stages = 10;
const kernel = CountKernel.shared();
const unasked = (): never => {
  throw new Error('there are no bands here');
};
const host: CountHost = {
  allocate: (bytes) => pool.allocateBytes(bytes),
  slotOf: (record, stage) => {
    const address = pool.addressOf(pool.allocate());
    kernel.ints[(record >>> 2) + stage] = address;
    return address;
  },
  vectorOf: unasked,
  addFar: unasked,
};

function addOurs(slots: number): void {
  pool.reset();
  const blocks = Array.from({ length: Math.ceil(slots / stages) }, () =>
    pool.allocateBytes(kernelBytes.block),
  );
  for (let k = 0; k < stages; k++) kernel.ids[k] = k % slots;
  let next = 0;
  for (let i = 0; i < count; i += stages) {
    const { durations } = kernel;
    for (let k = 0; k < stages; k++) durations[k] = values[i + k] as number;
    kernel.count(host, blocks[next] as number, -1, stages, 0, 0);
    next = next + 1 === blocks.length ? 0 : next + 1;
  }
}

function addBands(): void {
  bands.reset();
  const slot = bands.allocate();
  for (let i = 0; i < count; i++) bands.add(slot, bandOf(values[i] as number), 1);
}

function addNpm(): NpmDigest {
  const digest = new NpmDigest();
  for (let i = 0; i < count; i++) digest.push(values[i] as number);
  return digest;
}

function readSlots(slots: number): TDigest[] {
  return Array.from({ length: slots }, (_, slot) =>
    TDigest.fromCentroids(means, weights, pool.centroids(slot, means, weights)),
  );
}

/** Both must answer alike before either is timed. */
function checkAgreement(): void {
  addOurs(1);
  const [ours] = readSlots(1);
  const npm = addNpm();
  const sorted = values.slice().sort();
  for (const q of [0.5, 0.9, 0.99]) {
    const exact = sorted[Math.ceil(q * count) - 1] as number;
    for (const estimate of [ours?.quantile(q), npm.percentile(q)]) {
      if (!(Math.abs((estimate ?? Number.NaN) - exact) <= 0.02 * exact)) {
        throw new Error(`p${100 * q} is ${exact}, estimated as ${estimate}`);
      }
    }
  }
}

interface Question {
  readonly operations: number;
  readonly before?: () => void;
  readonly run: () => unknown;
}

const random = weyl32(4);
const ps = Float64Array.from({ length: 100_000 }, random);
let manySmall: TDigest[] = [];
let single: TDigest | undefined;

const questions: Record<string, Question> = {
  'add, one slot': { operations: count, run: () => addOurs(1) },
  'add, 1,000 slots in turn': { operations: count, run: () => addOurs(1000) },
  'add, 20,000 slots in turn (10 values each)': { operations: count, run: () => addOurs(20_000) },
  'add and make the state, 20 slots of 10,000 values in turn': {
    operations: count,
    run: () => {
      addOurs(20);
      for (let slot = 0; slot < 20; slot++) pool.centroids(slot, means, weights);
    },
  },
  'add and make the state, 1,000 slots of 200 values in turn': {
    operations: count,
    run: () => {
      addOurs(1000);
      for (let slot = 0; slot < 1000; slot++) pool.centroids(slot, means, weights);
    },
  },
  'add to a band': { operations: count, run: addBands },
  'npm tdigest push': { operations: count, run: addNpm },
  'centroids of a busy slot (200 values)': {
    operations: 1000,
    before: () => addOurs(1000),
    run: () => {
      for (let slot = 0; slot < 1000; slot++) pool.centroids(slot, means, weights);
    },
  },
  'merge, a digest of 1,000': {
    operations: 1000,
    before: () => {
      addOurs(1000);
      manySmall = readSlots(1000);
    },
    run: () => TDigest.merge(manySmall),
  },
  quantile: {
    operations: ps.length,
    before: () => {
      single = TDigest.merge(manySmall);
    },
    run: () => {
      let sum = 0;
      for (let i = 0; i < ps.length; i++) sum += single?.quantile(ps[i] as number) ?? 0;
      return sum;
    },
  },
};

checkAgreement();
const taken: Record<string, number[]> = {};
for (let round = -2; round < rounds; round++) {
  for (const [name, { operations, before, run }] of Object.entries(questions)) {
    let usedUs = 0;
    let asked = 0;
    for (; usedUs < leastUs; asked++) {
      before?.();
      const start = process.cpuUsage();
      run();
      const { user, system } = process.cpuUsage(start);
      usedUs += user + system;
    }
    const ns = (1000 * usedUs) / asked / operations;
    // The first rounds warm up.
    if (round < 0) continue;
    taken[name] ??= [];
    taken[name].push(ns);
  }
}

const digits = (ns: number | undefined) => Number((ns ?? Number.NaN).toFixed(1));
const results = Object.fromEntries(
  Object.entries(taken).map(([name, ns]) => {
    const sorted = ns.sort((a, b) => a - b);
    const [min, median, max] = [sorted[0], sorted[(sorted.length - 1) / 2], sorted.at(-1)];
    return [name, { medianNs: digits(median), minNs: digits(min), maxNs: digits(max) }];
  }),
);
const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim();
const machine = `${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}, Node ${process.version}`;
process.stdout.write(`${JSON.stringify({ machine, commit, rounds, results }, null, 2)}\n`);
