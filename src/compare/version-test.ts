import { totalStage } from '../base/dimensions.ts';
import { StageTable } from '../contract/stage-table.ts';
import { type CompareOptions, capital, decidingQuantiles } from './compare-options.ts';
import {
  type ComparedMinute,
  type PairedMinute,
  paired,
  type VersionMinute,
} from './compared-minute.ts';
import { EvidencePot } from './evidence-pot.ts';
import { logSum } from './pair-evidence.ts';
import { type DecidingQuantile, EndpointEvidence, StageTest } from './stage-test.ts';
import type { TailMinutes } from './tail-minutes.ts';
import { binomialCounts } from './thinned-counts.ts';

/** The stages whose durations decide, beside failures. */
export interface StageChoice {
  /** Stage that stands for whole requests. */
  readonly whole: string;
  readonly decides: (stage: string) => boolean;
  /** Stages without which nothing passes. @default none: those decide that both versions have */
  readonly required?: readonly string[];
}

/** Whole requests, milestones and measures: all that somebody waits for. Parts only explain them. */
export function defaultChoice(
  whole: string = totalStage,
  table: StageTable = StageTable.standard,
): StageChoice {
  return { whole, decides: (stage) => stage === whole || table.kindOf(stage) !== 'part' };
}

/** A place where the candidate may be worse: at a quantile of a stage, or (undefined) in failures. */
export interface Endpoint {
  readonly stage: string | undefined;
  readonly at: DecidingQuantile | 'failures';
}

/** The minute that made the candidate fail, and where it was worst then. */
export interface Failed extends Endpoint {
  readonly startMs: number;
}

/** Sums over the minutes in which both versions have requests. */
export interface VersionSums {
  readonly requests: number;
  readonly failed: number;
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
 * A stage takes part from the first minute in which both versions have it. Cost: a `StageTest` for each.
 */
export class VersionTest {
  readonly #options: CompareOptions;
  readonly #choice: StageChoice;
  readonly #failures = new EndpointEvidence();
  readonly #whole: StageTest;
  /** Other stages that decide. */
  readonly #stages = new Map<string, StageTest>();
  /** Capital of whole requests and failures, and that of all other stages. */
  readonly #pots = { requests: new EvidencePot(), stages: new EvidencePot() } as const;
  #candidate: VersionSums = { requests: 0, failed: 0 };
  #baseline: VersionSums = { requests: 0, failed: 0 };
  #baselineBefore: VersionSums = { requests: 0, failed: 0 };
  #minutes = 0;
  #failed: Failed | undefined;

  constructor(options: CompareOptions, choice: StageChoice = defaultChoice()) {
    this.#options = options;
    this.#choice = choice;
    this.#whole = new StageTest(choice.whole, options);
    const whole = choice.decides(choice.whole) ? worseOf(this.#whole) : [];
    this.#pots.requests.put([this.#failures.isWorse, ...whole], 0);
  }

  observe(minute: ComparedMinute): void {
    const both = paired(minute);
    const { baseline } = minute;
    const tests = baseline === undefined ? [] : this.#testsOf(baseline);
    if (both !== undefined) {
      // Before anything of the minute is known: where capital goes must not depend on it.
      this.#fund(tests.filter(({ stage }) => both.candidate.stages.has(stage)));
      this.#observePair(both);
    }
    if (baseline !== undefined) {
      observeTails([this.#whole, ...tests], both?.candidate, baseline);
      this.#baselineBefore = sumOf(this.#baselineBefore, baseline);
    }
    if (both === undefined || this.#failed !== undefined) return;
    const endpoint = this.#worst();
    if (endpoint !== undefined) this.#failed = { startMs: minute.startMs, ...endpoint };
  }

  get failed(): Failed | undefined {
    return this.#failed;
  }

  get passes(): boolean {
    if (this.#failed !== undefined || this.absent.length > 0 || !this.#hasEnough()) return false;
    const hasEnough = this.#decidingTests().every((test) => test.hasEnough);
    return hasEnough && this.logNoWorse >= this.logNeeded;
  }

  /** Required stages that the versions do not have in the same minutes. */
  get absent(): readonly string[] {
    const { required = [] } = this.#choice;
    return required.filter((stage) => this.#testOf(stage)?.isPaired !== true);
  }

  /** Minutes in which both versions have requests. */
  get minutes(): number {
    return this.#minutes;
  }

  get candidate(): VersionSums {
    return this.#candidate;
  }

  get baseline(): VersionSums {
    return this.#baseline;
  }

  /** Stages of both versions that decide: whole requests first. */
  get stages(): readonly string[] {
    return this.#decidingTests().map(({ stage }) => stage);
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
    return logSum([this.#pots.requests.log, this.#pots.stages.log]);
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
  isBeyondMargin({ stage, at }: Endpoint): boolean {
    if (at !== 'failures') return this.#testOf(stage)?.isBeyondMargin(at) ?? false;
    const { minEffectRatio, minEffectShare } = this.#options;
    const [now, before] = [shareOf(this.#candidate), shareOf(this.#baseline)];
    return now >= before * minEffectRatio && now - before >= minEffectShare;
  }

  #testOf(stage: string | undefined): StageTest | undefined {
    return stage === this.#whole.stage ? this.#whole : this.#stages.get(stage ?? '');
  }

  /** Tests of the stages that decide and that both versions have. */
  #decidingTests(): StageTest[] {
    const others = [...this.#stages.values()].filter(({ isPaired }) => isPaired);
    return this.#choice.decides(this.#whole.stage) ? [this.#whole, ...others] : others;
  }

  #endpoints(): { readonly endpoint: Endpoint; readonly evidence: EndpointEvidence }[] {
    const ofStages = this.#decidingTests().flatMap(({ stage, evidence: each }) =>
      [...each].map(([at, evidence]) => ({ endpoint: { stage, at }, evidence })),
    );
    return [...ofStages, { endpoint: failures, evidence: this.#failures }];
  }

  #weakest() {
    const [first, ...others] = this.#endpoints();
    return others.reduce(
      (least, each) => (each.evidence.isNoWorse.log < least.evidence.isNoWorse.log ? each : least),
      first as NonNullable<typeof first>,
    );
  }

  #hasEnough(): boolean {
    const { minRequests } = this.#options;
    return this.#candidate.requests >= minRequests && this.#baseline.requests >= minRequests;
  }

  /** The endpoint at which the candidate fails, the one with most evidence of several. */
  #worst(): Endpoint | undefined {
    if (!this.#hasEnough() || this.logWorse < this.logNeeded) return undefined;
    const worse = this.#endpoints()
      .map(({ endpoint, evidence }) => ({ endpoint, log: evidence.isWorse.log }))
      .filter(({ endpoint, log }) => log >= this.logNeeded && this.isBeyondMargin(endpoint))
      .filter(({ endpoint: { stage } }) => this.#testOf(stage)?.hasEnough ?? true)
      .toSorted((a, b) => b.log - a.log);
    return worse[0]?.endpoint;
  }

  #observePair({ candidate, baseline }: PairedMinute): void {
    this.#minutes += 1;
    this.#candidate = sumOf(this.#candidate, candidate);
    this.#baseline = sumOf(this.#baseline, baseline);
    this.#observeFailures(candidate, baseline);
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

  /** Moves capital to stages that both versions have from this minute on: all stages get equal parts. */
  #fund(present: readonly StageTest[]): void {
    const tests = present.filter(({ isPaired }) => !isPaired);
    if (tests.length === 0) return;
    const { requests, stages } = this.#pots;
    const known = stages.size / decidingQuantiles.length;
    const part = capital.stages / (capital.stages + requests.size * capital.endpoint);
    const taken =
      known === 0 ? requests.take(part) : stages.take(tests.length / (known + tests.length));
    stages.put(tests.flatMap(worseOf), taken);
  }

  /** Their margin: what the baseline's share before would grow to, as failures that it is credited with. */
  #observeFailures(candidate: VersionMinute, baseline: VersionMinute): void {
    const { minEffectRatio, minEffectShare } = this.#options;
    const { isWorse, isNoWorse } = this.#failures;
    const now = { slow: candidate.failed, requests: candidate.requests };
    const before = { slow: baseline.failed, requests: baseline.requests };
    const share = shareOf(this.#baselineBefore);
    const extra = Math.max(minEffectShare, share * (minEffectRatio - 1));
    const n = Math.min(now.requests, before.requests);
    isWorse.observe(now, before);
    isNoWorse.observe(before, now, binomialCounts(n, extra));
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

const worseOf = ({ evidence }: StageTest) => [...evidence.values()].map(({ isWorse }) => isWorse);

/** Share of failed requests, 0 without any. */
export function shareOf({ requests, failed }: VersionSums): number {
  return requests === 0 ? 0 : failed / requests;
}

function sumOf(sums: VersionSums, { requests, failed }: VersionMinute): VersionSums {
  return { requests: sums.requests + requests, failed: sums.failed + failed };
}
