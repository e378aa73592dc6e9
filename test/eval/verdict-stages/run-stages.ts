import { compareDefaults } from '../../../src/compare/compare-options.ts';
import type { ComparedMinute, VersionMinute } from '../../../src/compare/compared-minute.ts';
import { defaultChoice, VersionTest } from '../../../src/compare/version-test.ts';
import { objectiveRow } from '../../../src/config/slos.ts';
import { Random } from '../../../src/generate/random.ts';
import { SketchPool, stateCentroids } from '../../../src/sketch/sketch-pool.ts';
import { TDigest } from '../../../src/sketch/t-digest.ts';
import { DurationTable, perToken } from '../verdict/duration-law.ts';
import { askedMinutes, OwnVariation, type VerdictOutcome } from '../verdict/run-verdict.ts';
import { failingShare } from '../verdict/verdict-cases.ts';
import type { StageCase, StageChange } from './stage-cases.ts';

/** When one pair of versions first failed, by which stage, and first passed. */
export interface StageOutcome extends VerdictOutcome {
  readonly failedStage: string | undefined;
}

const stages = ['total', 'first_token', 'time_per_output_token'] as const;
const [total, firstToken, tokenTime] = [0, 1, 2];

/** Laws are of some 80 ms in the middle; a first token takes longer. */
const firstTokenFactor = 4;
/** Output tokens of a request: median, and deviation of the logarithm. */
const tokens = { median: 150, deviation: 0.8 } as const;

const tokenTable = new DurationTable(perToken);
const totalAlone = { whole: 'total', decides: (stage: string) => stage === 'total' };
const objective = objectiveRow({ first_token: 500, total: 10_000 });

/** Runs one pair of versions, by a seed. The same seed gives the same traffic, whichever stages decide. */
export function runStages(each: StageCase, table: DurationTable, seed: number): StageOutcome {
  const { law, deviation, change, rates, isTotalAlone = false, goodput } = each;
  const random = new Random(
    `verdict stages ${law.name} ${deviation} ${change.name} ${rates} ${seed}`,
  );
  const traffic = new LlmTraffic(each, table, random);
  const objectives = goodput === undefined ? [] : [objective];
  const choice = { ...(isTotalAlone ? totalAlone : defaultChoice()), objectives };
  const test = new VersionTest(compareDefaults, choice);
  let passedAfter: number | undefined;
  for (let minute = 1; minute <= askedMinutes; minute++) {
    test.observe(traffic.minute(minute));
    const { failed } = test;
    if (failed !== undefined) {
      return {
        failedAfter: minute,
        failedStage: failed.stage ?? failed.at.toString(),
        passedAfter,
      };
    }
    if (test.passes) passedAfter ??= minute;
  }
  return { failedAfter: undefined, failedStage: undefined, passedAfter };
}

/** Two versions of a server of a language model, minute by minute. */
class LlmTraffic {
  readonly #case: StageCase;
  readonly #table: DurationTable;
  readonly #random: Random;
  /** Which requests meet the objective, whatever they take. */
  readonly #randomOfGoodput: Random;
  readonly #own: readonly [Variations, Variations];
  readonly #sketches = new SketchPool();
  readonly #means = new Float64Array(stateCentroids);
  readonly #weights = new Float64Array(stateCentroids);

  constructor(each: StageCase, table: DurationTable, random: Random) {
    this.#case = each;
    this.#table = table;
    this.#random = random.split('requests');
    this.#randomOfGoodput = random.split('goodput');
    this.#own = [
      new Variations(each.deviation, random.split('candidate')),
      new Variations(each.deviation, random.split('baseline')),
    ];
  }

  minute(minute: number): ComparedMinute {
    const { change, rates } = this.#case;
    return {
      startMs: minute * 60_000,
      candidate: this.#version(rates[0], this.#own[0], change),
      baseline: this.#version(rates[1], this.#own[1], { name: 'equal' }),
    };
  }

  #version(rate: number, own: Variations, change: StageChange): VersionMinute {
    const random = this.#random;
    const requests = Math.max(0, Math.round(rate + Math.sqrt(rate) * random.normal()));
    const { slowest = 1 } = change;
    const slowFrom = slowest === 1 ? Number.POSITIVE_INFINITY : Math.log(slowest / (1 - slowest));
    const [ofFirst, ofTokens, ofGoodput] = own.next();
    const sketches = this.#sketches;
    sketches.reset();
    for (const _ of stages) sketches.allocate();
    let failed = 0;
    for (let n = 0; n < requests; n++) {
      const logOdds = logOddsOf(random.uniform()) - ofFirst;
      const factor = logOdds < slowFrom ? (change.firstToken ?? 1) : 1;
      const firstMs = firstTokenFactor * this.#table.msAt(logOdds) * factor;
      const tokenMs =
        tokenTable.msAt(logOddsOf(random.uniform()) - ofTokens) * (change.perToken ?? 1);
      const count = Math.max(1, Math.round(random.lognormal(tokens.median, tokens.deviation)));
      sketches.add(firstToken, firstMs);
      sketches.add(tokenTime, tokenMs);
      sketches.add(total, (firstMs + (count - 1) * tokenMs) * (change.total ?? 1));
      if (random.chance(failingShare)) failed++;
    }
    const digests = new Map(stages.map((name, i) => [name, this.#digest(i)]));
    return { requests, failed, stages: digests, ...this.#goodputOf(requests, change, ofGoodput) };
  }

  /** What is counted for the objective: the log odds of a miss vary as those of a slow request do. */
  #goodputOf(
    requests: number,
    change: StageChange,
    own: number,
  ): Pick<VersionMinute, 'objectives'> {
    const { goodput } = this.#case;
    if (goodput === undefined || requests === 0) return {};
    const missing = 1 - (change.goodput ?? goodput);
    const shifted = 1 / (1 + Math.exp(-(Math.log(missing / (1 - missing)) + own)));
    let bad = 0;
    for (let n = 0; n < requests; n++) if (this.#randomOfGoodput.chance(shifted)) bad++;
    return { objectives: new Map([[objective, { requests, bad }]]) };
  }

  #digest(slot: number): TDigest {
    const size = this.#sketches.centroids(slot, this.#means, this.#weights);
    return TDigest.fromCentroids(this.#means, this.#weights, size);
  }
}

function logOddsOf(uniform: number): number {
  return Math.log(uniform / (1 - uniform));
}

/** What one version's minutes vary by: its first tokens, its times per token, and its goodput. */
class Variations {
  readonly #ofFirst: OwnVariation;
  readonly #ofTokens: OwnVariation;
  readonly #ofGoodput: OwnVariation;

  constructor(deviation: number, random: Random) {
    const variation = { name: '', deviation };
    this.#ofFirst = new OwnVariation(variation, random.split('first token'));
    this.#ofTokens = new OwnVariation(variation, random.split('tokens'));
    this.#ofGoodput = new OwnVariation(variation, random.split('goodput'));
  }

  next(): readonly [firstToken: number, perToken: number, goodput: number] {
    return [this.#ofFirst.next(), this.#ofTokens.next(), this.#ofGoodput.next()];
  }
}
