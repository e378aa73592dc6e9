// Covers src/ingest/made-again.ts.

import { describe, expect, it } from 'vitest';
import { SeededRandom } from '../base/seeded-random.ts';
import { fakeLog } from './fake-log.ts';
import { type Choices, fakeRun } from './fake-run.ts';
import type { Fate, Op } from './fake-world.ts';
import { testConfig } from './test-config.ts';

const config = testConfig();
const holds: Fate = { kind: 'holds', share: 1 };
/** Shares of an effect after which a failure can happen: for an insert, also between tables. */
const sharesOf = (op: string) => (op === 'insert' ? [0, 0.25, 0.5, 0.75, 1] : [0, 1]);

const isTurn = (op: string) => op === 'sleep' || op === 'yieldToEventLoop';

/** Every call succeeds, in order; a fate may be set for each turn by its number. */
class Plain implements Choices {
  readonly calls: string[] = [];
  readonly #fates: ReadonlyMap<number, Fate>;

  constructor(fates: ReadonlyMap<number, Fate> = new Map()) {
    this.#fates = fates;
  }

  next(): number {
    return 0;
  }

  fate(op: Op): Fate {
    this.calls.push(op.name);
    const fate = this.#fates.get(this.calls.length - 1) ?? holds;
    // A turn of the event loop cannot fail.
    return fate.kind === 'fails' && isTurn(op.name) ? holds : fate;
  }

  batchSize(): number {
    return 5;
  }

  meanwhile(): 'nothing' {
    return 'nothing';
  }
}

describe('every point of a run', () => {
  const log = fakeLog(new SeededRandom(21), 26);

  async function pointsOf(): Promise<readonly string[]> {
    const choices = new Plain();
    expect(await fakeRun(log, config, choices)).toEqual([]);
    return choices.calls;
  }

  it('is one of these steps, without failures', async () => {
    const steps = (await pointsOf()).filter(
      (name) => !/sleep|yieldToEventLoop|keep alive/.test(name),
    );
    expect(log.lettersDue.size).toBeGreaterThan(2);
    expect(steps.slice(0, 9)).toEqual([
      'find',
      'ledger end',
      // The log begins at offset 3.
      'group begin',
      'commit end',
      'commit intent',
      'publish',
      'insert',
      'record',
      'look',
    ]);
    expect(steps.filter((name) => name === 'record').length).toBeGreaterThanOrEqual(4);
  });

  it.each(['fails', 'dies', 'moves', 'waits'] as const)(
    'counts once and tiles when a process %s there, and when its successor does too',
    async (kind) => {
      const points = await pointsOf();
      const wrong: string[] = [];
      let runs = 0;
      const run = async (fates: ReadonlyMap<number, Fate>, name: string) => {
        runs++;
        const problems = await fakeRun(log, config, new Plain(fates));
        wrong.push(...problems.map((problem) => `${name}: ${problem}`));
      };
      for (const [at, op] of points.entries()) {
        if (kind === 'fails' && isTurn(op)) continue;
        for (const share of kind === 'waits' ? [0] : sharesOf(op)) {
          const first: [number, Fate] = [at, { kind, share }];
          await run(new Map([first]), `${at} ${op} ${share}`);
          if (isTurn(op) || op === 'keep alive' || share === 0.25 || share === 0.75) continue;
          // The same again a few steps further, during any other step.
          for (const next of [2, 5]) {
            const second: [number, Fate] = [at + next, { kind, share: next === 5 ? 1 : share }];
            await run(new Map([first, second]), `${at} ${op} ${share}, then ${at + next}`);
          }
        }
      }
      expect(wrong).toEqual([]);
      expect(runs).toBeGreaterThan(60);
    },
  );
});

/** Any fate at any turn, in any order, until enough of them happened. */
class Seeded implements Choices {
  readonly #random: SeededRandom;
  readonly counts = { fails: 0, dies: 0, moves: 0, waits: 0, timer: 0, stop: 0 };
  #left = 60;

  constructor(seed: number) {
    this.#random = new SeededRandom(seed);
  }

  next(open: readonly Op[]): number {
    return this.#random.between(0, open.length - 1);
  }

  fate(op: Op): Fate {
    if (this.#left === 0 || !this.#random.chance(0.15)) return holds;
    this.#left--;
    const kind = this.#random.pick(
      isTurn(op.name)
        ? (['dies', 'moves', 'waits'] as const)
        : (['fails', 'fails', 'dies', 'moves', 'waits'] as const),
    );
    this.counts[kind]++;
    return { kind, share: this.#random.pick(sharesOf(op.name)) };
  }

  batchSize(): number {
    return this.#random.between(1, 9);
  }

  meanwhile(): 'nothing' | 'timer' | 'stop' {
    if (this.#left === 0 || !this.#random.chance(0.12)) return 'nothing';
    const what = this.#random.pick(['timer', 'timer', 'timer', 'stop'] as const);
    this.counts[what]++;
    if (what === 'stop') this.#left--;
    return what;
  }
}

describe('seeded runs', () => {
  it.each([0, 25, 50, 75])(
    'count once and tile, with any deaths, waits and refusals: 25 seeds from %i',
    async (from) => {
      const wrong: string[] = [];
      const seen: Record<string, number> = {};
      for (let seed = from; seed < from + 25; seed++) {
        const log = fakeLog(new SeededRandom(seed + 7_000), 25);
        const choices = new Seeded(seed);
        const problems = await fakeRun(log, config, choices);
        wrong.push(...problems.map((problem) => `seed ${seed}: ${problem}`));
        for (const [name, count] of Object.entries(choices.counts)) {
          seen[name] = (seen[name] ?? 0) + count;
        }
      }
      expect(wrong).toEqual([]);
      for (const [name, count] of Object.entries(seen)) expect(count, name).toBeGreaterThan(20);
    },
  );

  it('are the same from the same seed', async () => {
    const log = fakeLog(new SeededRandom(1), 25);
    const namesOfRun = async () => {
      const choices = new Seeded(99);
      const names: string[] = [];
      const fate = choices.fate.bind(choices);
      choices.fate = (op) => {
        names.push(`${op.process} ${op.name}`);
        return fate(op);
      };
      await fakeRun(log, config, choices);
      return names;
    };
    const first = await namesOfRun();
    expect(first.length).toBeGreaterThan(60);
    expect(await namesOfRun()).toEqual(first);
  });
});
