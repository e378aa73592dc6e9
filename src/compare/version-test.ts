import { totalStage } from '../base/dimensions.ts';
import { StageTable } from '../contract/stage-table.ts';
import { type CompareOptions, capital } from './compare-options.ts';
import {
  type ComparedMinute,
  type PairedMinute,
  paired,
  type VersionMinute,
} from './compared-minute.ts';
import { EvidencePot } from './evidence-pot.ts';
import { logSum, type PairEvidence } from './pair-evidence.ts';
import { type BadCount, ShareTest, shareOf } from './share-test.ts';
import { type DecidingQuantile, type EndpointEvidence, StageTest } from './stage-test.ts';
import type { TailMinutes } from './tail-minutes.ts';

/** What decides beside failures: stages by their durations, and the goodput of joint objectives. */
export interface StageChoice {
  /** Stage that stands for whole requests. */
  readonly whole: string;
  readonly decides: (stage: string) => boolean;
  /** Rows of the objectives whose goodput decides. @default none */
  readonly objectives?: readonly string[];
  /** Stages and objectives without which nothing passes. @default none: those decide that both versions have */
  readonly required?: readonly string[];
}

/** Whole requests, milestones and measures: all that somebody waits for. Parts only explain them. */
export function defaultChoice(
  whole: string = totalStage,
  table: StageTable = StageTable.standard,
): StageChoice {
  return { whole, decides: (stage) => stage === whole || table.kindOf(stage) !== 'part' };
}

/** A place where the candidate may be worse: at a quantile of a stage, in failures or in goodput. */
export interface Endpoint {
  /** Undefined of failures and goodput. */
  readonly stage: string | undefined;
  readonly at: DecidingQuantile | 'failures' | 'goodput';
  /** Row of the objective, of goodput. */
  readonly objective?: string;
}

/** The minute that made the candidate fail, and where it is worst over all minutes. */
export interface Failed extends Endpoint {
  readonly startMs: number;
}

const failures: Endpoint = { stage: undefined, at: 'failures' };

/**
 * The sequential test behind a verdict. Minutes come in order; after each, it may be asked. It fails for good
 * with the first minute whose evidence suffices, so it does not matter when it is asked.
 *
 * - fail: the evidence of all endpoints together, as parts of one capital, and that of one of them reaches
 *   1 / errorShare, and there the measured difference is beyond the margin. The evidence is for "slower by
 *   more than `equalPart` of the margin". So the bound holds for all stages together, however many decide.
 * - pass: at every endpoint, the evidence for "within the margin" reaches 1 / errorShare, and still does.
 *
 * A stage or an objective takes part from the first minute in which both versions have it. Cost: a `StageTest`
 * or `ShareTest` for each.
 */
export class VersionTest {
  readonly #options: CompareOptions;
  readonly #choice: StageChoice;
  readonly #failures: ShareTest;
  readonly #whole: StageTest;
  /** Other stages that decide. */
  readonly #stages = new Map<string, StageTest>();
  /** Objectives that decide, by their rows. */
  readonly #objectives: ReadonlyMap<string, ShareTest>;
  /** Capital of whole requests and failures, and that of all other stages and of objectives. */
  readonly #pots = { requests: new EvidencePot(), others: new EvidencePot() } as const;
  #minutes = 0;
  #failed: Failed | undefined;

  constructor(options: CompareOptions, choice: StageChoice = defaultChoice()) {
    this.#options = options;
    this.#choice = choice;
    this.#failures = new ShareTest(options);
    this.#whole = new StageTest(choice.whole, options);
    const { objectives = [] } = choice;
    this.#objectives = new Map(objectives.map((row) => [row, new ShareTest(options)]));
    const whole = choice.decides(choice.whole) ? worseOf(this.#whole) : [];
    this.#pots.requests.put([...worseOf(this.#failures), ...whole], 0);
  }

  observe(minute: ComparedMinute): void {
    const both = paired(minute);
    const { baseline } = minute;
    const tests = baseline === undefined ? [] : this.#testsOf(baseline);
    if (both !== undefined) {
      // Before anything of the minute is known: where capital goes must not depend on it.
      this.#fund([
        ...tests.filter(({ stage }) => both.candidate.stages.has(stage)),
        ...[...this.#objectives].flatMap(([row, test]) => (isCounted(both, row) ? [test] : [])),
      ]);
      this.#minutes += 1;
    }
    if (baseline !== undefined) {
      observeTails([this.#whole, ...tests], both?.candidate, baseline);
      this.#observeShares(both?.candidate, baseline);
    }
    if (both === undefined || this.#failed !== undefined) return;
    const endpoint = this.#worst();
    if (endpoint !== undefined) this.#failed = { startMs: minute.startMs, ...endpoint };
  }

  /**
   * Named by all minutes: so minutes and blocks of them, which fail at different times, name the same endpoint. Where no
   * difference is beyond the margin any more, the one that it failed by.
   */
  get failed(): Failed | undefined {
    const failed = this.#failed;
    return failed && { ...(this.#worst() ?? failed), startMs: failed.startMs };
  }

  get passes(): boolean {
    if (this.#failed !== undefined || this.absent.length > 0 || !this.#hasEnough()) return false;
    const tests = [...this.#decidingTests(), ...this.#pairedObjectives().map(([, test]) => test)];
    const hasEnough = tests.every((test) => test.hasEnough);
    return hasEnough && this.logNoWorse >= this.logNeeded;
  }

  /** Required stages and objectives that the versions do not have in the same minutes. */
  get absent(): readonly string[] {
    const { required = [] } = this.#choice;
    const testOf = (name: string) => this.#objectives.get(name) ?? this.#testOf(name);
    return required.filter((name) => testOf(name)?.isPaired !== true);
  }

  /** Minutes in which both versions have requests. */
  get minutes(): number {
    return this.#minutes;
  }

  /** Requests in these minutes, and how many of them failed. */
  get candidate(): BadCount {
    return this.#failures.candidate;
  }

  get baseline(): BadCount {
    return this.#failures.baseline;
  }

  /** Stages of both versions that decide: whole requests first. */
  get stages(): readonly string[] {
    return this.#decidingTests().map(({ stage }) => stage);
  }

  /** Rows of the objectives of both versions that decide. */
  get objectives(): readonly string[] {
    return this.#pairedObjectives().map(([row]) => row);
  }

  /** Requests that were counted for an objective, and how many missed it; undefined of others. */
  goodputOf(row: string): Pick<ShareTest, 'candidate' | 'baseline'> | undefined {
    return this.#objectives.get(row);
  }

  /** Stage that stands for whole requests. */
  get whole(): string {
    return this.#whole.stage;
  }

  /** Durations of whole requests. */
  get tail(): TailMinutes {
    return this.#whole.tail;
  }

  /** Durations of a stage that decides; undefined of others. */
  tailOf(stage: string): TailMinutes | undefined {
    return this.#testOf(stage)?.tail;
  }

  /** Natural logarithm of the evidence that a verdict needs. */
  get logNeeded(): number {
    return Math.log(1 / this.#options.errorShare);
  }

  /** Natural logarithm of the evidence that the candidate is worse somewhere. */
  get logWorse(): number {
    return logSum([this.#pots.requests.log, this.#pots.others.log]);
  }

  /** Natural logarithm of the evidence that it is within the margin, where that is weakest. */
  get logNoWorse(): number {
    return this.#weakest().evidence.isNoWorse.log;
  }

  /** The endpoint of which it is least known that it is within the margin. */
  get leastKnown(): Endpoint {
    return this.#weakest().endpoint;
  }

  /** True if the measured difference is beyond the margin. */
  isBeyondMargin({ stage, at, objective = '' }: Endpoint): boolean {
    if (at === 'failures') return this.#failures.isBeyondMargin;
    if (at === 'goodput') return this.#objectives.get(objective)?.isBeyondMargin ?? false;
    return this.#testOf(stage)?.isBeyondMargin(at) ?? false;
  }

  #testOf(stage: string | undefined): StageTest | undefined {
    return stage === this.#whole.stage ? this.#whole : this.#stages.get(stage ?? '');
  }

  /** Tests of the stages that decide and that both versions have. */
  #decidingTests(): StageTest[] {
    const others = [...this.#stages.values()].filter(({ isPaired }) => isPaired);
    return this.#choice.decides(this.#whole.stage) ? [this.#whole, ...others] : others;
  }

  /** Objectives that decide and for which requests of both versions were counted. */
  #pairedObjectives(): (readonly [row: string, test: ShareTest])[] {
    return [...this.#objectives].filter(([, { isPaired }]) => isPaired);
  }

  #endpoints(): { readonly endpoint: Endpoint; readonly evidence: EndpointEvidence }[] {
    const ofStages = this.#decidingTests().flatMap(({ stage, evidence: each }) =>
      [...each].map(([at, evidence]) => ({ endpoint: { stage, at }, evidence })),
    );
    const ofObjectives = this.#pairedObjectives().map(([objective, { evidence }]) => ({
      endpoint: { stage: undefined, at: 'goodput' as const, objective },
      evidence,
    }));
    return [
      ...ofStages,
      ...ofObjectives,
      { endpoint: failures, evidence: this.#failures.evidence },
    ];
  }

  #weakest() {
    const [first, ...others] = this.#endpoints();
    return others.reduce(
      (least, each) => (each.evidence.isNoWorse.log < least.evidence.isNoWorse.log ? each : least),
      first as NonNullable<typeof first>,
    );
  }

  #hasEnough({ stage, objective }: Partial<Endpoint> = {}): boolean {
    const ofEndpoint =
      objective === undefined ? this.#testOf(stage) : this.#objectives.get(objective);
    return this.#failures.hasEnough && (ofEndpoint?.hasEnough ?? true);
  }

  /**
   * The endpoint at which the candidate fails, the one with the largest measured ratio of several. Goodput falls by
   * durations or failures: these are named where they are as certain.
   */
  #worst(): Endpoint | undefined {
    if (!this.#hasEnough() || this.logWorse < this.logNeeded) return undefined;
    const worse = this.#endpoints()
      .filter(
        ({ endpoint, evidence }) =>
          evidence.isWorse.log >= this.logNeeded && this.isBeyondMargin(endpoint),
      )
      .filter(({ endpoint }) => this.#hasEnough(endpoint))
      .map(({ endpoint }) => ({ endpoint, ratio: this.#ratioOf(endpoint) }))
      .toSorted((a, b) => b.ratio - a.ratio);
    return (worse.find(({ endpoint }) => endpoint.at !== 'goodput') ?? worse[0])?.endpoint;
  }

  /** Measured ratio of the candidate's quantile, or share of bad requests, to the baseline's. */
  #ratioOf({ stage, at, objective = '' }: Endpoint): number {
    if (typeof at === 'string') {
      const test = at === 'failures' ? this.#failures : this.#objectives.get(objective);
      return test === undefined ? 0 : shareOf(test.candidate) / shareOf(test.baseline);
    }
    const tail = this.tailOf(stage ?? '');
    return tail === undefined ? 0 : tail.candidate.quantile(at) / tail.baseline.quantile(at);
  }

  #observeShares(candidate: VersionMinute | undefined, baseline: VersionMinute): void {
    this.#failures.observe(candidate && failedOf(candidate), failedOf(baseline));
    for (const [row, test] of this.#objectives) {
      const before = baseline.objectives?.get(row);
      if (before !== undefined) test.observe(candidate?.objectives?.get(row), before);
    }
  }

  /** Tests of the other stages of a minute that decide. */
  #testsOf({ stages }: VersionMinute): StageTest[] {
    const { decides, whole } = this.#choice;
    const names = [...stages.keys()].filter((stage) => stage !== whole && decides(stage));
    return names.map((stage) => {
      const test = this.#stages.get(stage) ?? new StageTest(stage, this.#options);
      this.#stages.set(stage, test);
      return test;
    });
  }

  /**
   * Moves capital to stages and objectives that both versions have from this minute on: all of them get equal
   * parts, whose stages split them evenly over their quantiles.
   */
  #fund(present: readonly (StageTest | ShareTest)[]): void {
    const tests = present.filter(({ isPaired }) => !isPaired);
    if (tests.length === 0) return;
    const { requests, others } = this.#pots;
    const known =
      [...this.#stages.values()].filter(({ isPaired }) => isPaired).length +
      this.#pairedObjectives().length;
    const part = capital.others / (capital.others + requests.size * capital.endpoint);
    const taken =
      known === 0 ? requests.take(part) : others.take(tests.length / (known + tests.length));
    for (const test of tests) others.put(worseOf(test), taken - Math.log(tests.length));
  }
}

function observeTails(
  tests: readonly StageTest[],
  candidate: VersionMinute | undefined,
  baseline: VersionMinute,
): void {
  for (const test of tests) {
    const before = baseline.stages.get(test.stage);
    if (before !== undefined) test.observe(candidate?.stages.get(test.stage), before);
  }
}

function worseOf(test: StageTest | ShareTest): PairEvidence[] {
  const all = test instanceof ShareTest ? [test.evidence] : [...test.evidence.values()];
  return all.map(({ isWorse }) => isWorse);
}

/** True where requests of both versions were counted for an objective. */
function isCounted({ candidate, baseline }: PairedMinute, row: string): boolean {
  const counts = [candidate.objectives?.get(row), baseline.objectives?.get(row)];
  return counts.every((count) => count !== undefined && count.requests > 0);
}

const failedOf = ({ requests, failed }: VersionMinute): BadCount => ({ requests, bad: failed });
