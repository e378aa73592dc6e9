import { carryDigest } from '../baseline/carry-digest.ts';
import { carryRateReference } from '../baseline/carry-rate-reference.ts';
import { RateBaseline, type RateReference } from '../baseline/rate-baseline.ts';
import type { Series } from '../baseline/series-window.ts';
import type { StateArchive } from '../baseline/state-archive.ts';
import type { PeakPool } from '../baseline/tail-peaks.ts';
import { TDigest } from '../sketch/t-digest.ts';
import type { AnomalyEvent, Resolution } from './anomaly-event.ts';
import { AnomalyTrack, type Judgement } from './anomaly-track.ts';
import type { DetectOptions } from './detect-options.ts';
import type { Renewed } from './episode.ts';
import type { CountedRequests, Proportion, WholeRequests } from './proportion.ts';
import { proportionMeasured } from './proportion-measured.ts';
import { type ProportionCount, ProportionTest, type ProportionVerdict } from './proportion-test.ts';
import { type LeastRise, rateEffect } from './proportion-weights.ts';
import { quarantineWindows } from './quarantine-windows.ts';
import { rateEvent, tailBeside } from './rate-event.ts';
import type { StepContext } from './series-detector.ts';

/** What usual requests of a series take. */
export type UsualOf = (series: Series) => TDigest | undefined;

interface Quarantined extends ProportionCount {
  readonly whole: WholeRequests;
  learnable: boolean;
  suspicious: boolean;
}

/** What an anomaly has grown by since it was told last, to be told again. */
const materialGrowth = 1.5;
/** Whether it goes on is looked for in so many windows, in more where they hold too few requests. */
const mostKept = 30;
/** How long requests take beside it is said of so many windows. */
const mostDigests = quarantineWindows;

/**
 * How many of one series' requests are of some sort: its baseline, its test and its anomaly, if one is open.
 * Windows come in order of their start; every step gives at most one event.
 */
export class ProportionDetector {
  readonly series: Series;
  readonly #proportion: Proportion;
  readonly #least: LeastRise;
  readonly #options: DetectOptions;
  readonly #test: ProportionTest;
  readonly #track: AnomalyTrack;
  /**
   * Until this one has a baseline: a new version that fails from its first request on, say, is compared
   * with the last.
   */
  #inherited: RateReference | undefined;
  #baseline: RateBaseline;
  /** What windows that are not learnt would make: the new usual, if they stay. */
  #candidate: RateBaseline | undefined;
  #quarantine: Quarantined[] = [];
  /** The last windows, oldest first. */
  #last: Quarantined[] = [];
  /** What their requests take, of the last of these windows. */
  #digests: (readonly TDigest[])[] = [];
  #lastSeenMs = Number.NaN;

  /**
   * @param pool shared by all series.
   * @param before the series of the version before, if there was one.
   */
  constructor(
    proportion: Proportion,
    series: Series,
    options: DetectOptions,
    pool: PeakPool,
    before: ProportionDetector | undefined,
  ) {
    this.series = series;
    this.#proportion = proportion;
    this.#least = proportion.leastRise(options);
    this.#options = options;
    this.#test = new ProportionTest(options, this.#least, proportion.lasting, pool);
    this.#track = new AnomalyTrack(options);
    this.#baseline = this.#newBaseline();
    this.#inherited = before?.reference();
    if (before !== undefined) this.#test.inherit(before.#test);
  }

  get isOpen(): boolean {
    return this.#track.isOpen;
  }

  restore(event: AnomalyEvent): void {
    this.#track.restore(event);
  }

  /** What others have told counts, if it is the same event of the same anomaly. */
  take(told: AnomalyEvent): void {
    this.#track.take(told);
  }

  /** As `AnomalyTrack.reconcile`. */
  reconcile(open: AnomalyEvent | undefined, isKnown: (id: string) => boolean): void {
    if (this.#track.reconcile(open, isKnown)) this.#test.forgetRun();
  }

  /** All but the pool, which is shared. */
  carry(state: StateArchive): void {
    state.section('proportion detector', 1, () => {
      this.#test.carry(state);
      this.#track.carry(state);
      this.#inherited = state.optional(this.#inherited, (reference) =>
        carryRateReference(state, reference),
      );
      this.#baseline.carry(state);
      this.#candidate = state.optional(this.#candidate, (candidate = this.#newBaseline()) => {
        candidate.carry(state);
        return candidate;
      });
      this.#last = state.list(this.#last, (entry) => carryEntry(state, entry));
      // They are the last ones of those.
      const quarantined = state.number(this.#quarantine.length);
      this.#quarantine = this.#last.slice(this.#last.length - quarantined);
      this.#digests = state.list(this.#digests, (digests = []) =>
        state.list(digests, (digest) => carryDigest(state, digest)),
      );
      this.#lastSeenMs = state.number(this.#lastSeenMs);
    });
  }

  /**
   * @param counted undefined where the series had no request.
   * @param usualOf what whole requests take, to say it beside how many are counted.
   */
  step(
    startMs: number,
    counted: CountedRequests | undefined,
    context: StepContext,
    usualOf: UsualOf,
  ): AnomalyEvent | undefined {
    if (counted === undefined) return this.#missing(startMs, context);
    this.#lastSeenMs = startMs;
    const reference = this.reference();
    const { hits, whole, digests } = counted;
    this.#digests.push(digests);
    if (this.#digests.length > mostDigests) this.#digests.shift();
    const { requests } = whole;
    const entry: Quarantined = {
      startMs,
      requests,
      hits: Math.min(requests, hits),
      whole,
      learnable: true,
      suspicious: false,
    };
    const verdict = reference && this.#test.judge(entry, reference, context.levels);
    entry.suspicious = verdict?.suspicious === true;
    this.#quarantine.push(entry);
    this.#last.push(entry);
    if (this.#last.length > mostKept) this.#last.shift();
    let event: AnomalyEvent | undefined;
    // Most windows show nothing: nothing is made for them.
    if (verdict !== undefined || this.#track.isOpen) {
      const usual = () => usualOf(this.series);
      event = this.#track.step(startMs, this.#judgement(verdict, context, usual), context);
      const sinceMs = this.#track.openSinceMs;
      if (sinceMs !== undefined) this.#setAside(sinceMs);
    }
    this.#learn();
    return event;
  }

  #missing(startMs: number, context: StepContext): AnomalyEvent | undefined {
    if (!this.#track.isOpen) return undefined;
    const judgement = this.#judgement(undefined, context, () => undefined);
    return this.#track.step(startMs, { ...judgement, isOut: () => undefined }, context);
  }

  /** What its requests are compared with: the version before gives it until this one has its own. */
  reference(): RateReference | undefined {
    const own = this.#baseline.reference();
    const isKnown = own !== undefined && own.windows >= this.#options.min_baseline_windows;
    return isKnown ? own : this.#inherited;
  }

  #judgement(
    verdict: ProportionVerdict | undefined,
    context: StepContext,
    usual: () => TDigest | undefined,
  ): Judgement {
    return {
      isOut: (event) => this.#isOut(event),
      opening: () => (verdict?.opens ? this.#opening(verdict, context, usual) : undefined),
      renewed: (event) => this.#renewed(event, verdict, context, usual),
      isAdoptable:
        (this.#candidate?.reference()?.windows ?? 0) >= this.#options.min_baseline_windows,
      farewell: (event, resolution) =>
        this.#proportion.farewell(event, resolution, this.#now(event)),
      ended: (resolution) => this.#ended(resolution),
    };
  }

  /** Judged by what the event says, so that a detector that knows only the event goes on alike. */
  #isOut(event: AnomalyEvent): boolean | undefined {
    const now = this.#now(event);
    if (now === undefined || event.rate === undefined) return undefined;
    return now >= rateEffect(event.rate.baseline, this.#least).halfEffect;
  }

  /** The part of requests that are counted in the last windows: six at most, or as many as hold enough requests. */
  #now({ evidence }: AnomalyEvent): number | undefined {
    const windows = Math.min(evidence.windows, quarantineWindows);
    let [requests, hits] = [0, 0];
    for (let back = 1; back <= this.#last.length; back++) {
      if (back > windows && requests >= this.#options.min_requests) break;
      const entry = this.#last.at(-back) as Quarantined;
      requests += entry.requests;
      hits += entry.hits;
    }
    return requests < this.#options.min_requests ? undefined : hits / requests;
  }

  #opening(verdict: ProportionVerdict, context: StepContext, usual: () => TDigest | undefined) {
    const shown = this.#shown(verdict);
    return rateEvent({
      kind: this.#proportion.kind,
      series: this.series,
      isWhole: false,
      startedAtMs: verdict.startedAtMs,
      measured: proportionMeasured({
        proportion: this.#proportion,
        series: this.series,
        verdict,
        shown,
        context,
      }),
      bottleneck: this.#proportion.bottleneck,
      tail: { now: this.#tailOf(shown), usual: usual() },
      nowMs: context.nowMs,
      options: this.#options,
    });
  }

  #renewed(
    event: AnomalyEvent,
    verdict: ProportionVerdict | undefined,
    context: StepContext,
    usual: () => TDigest | undefined,
  ): Renewed | undefined {
    if (verdict === undefined || event.rate === undefined) return undefined;
    // Held against what was usual when it began, whatever has been learnt since.
    const reference = { ...verdict.reference, rate: event.rate.baseline };
    const shown = this.#shown(verdict);
    const proportion = this.#proportion;
    const changed = { ...verdict, reference };
    const input = { proportion, series: this.series, verdict: changed, shown, context };
    const measured = proportionMeasured(input);
    const isWorse = measured.severity === 'critical' && event.severity !== 'critical';
    const isGrown = (measured.rate?.ratio ?? 0) >= materialGrowth * event.rate.ratio;
    if (!isWorse && !isGrown) return undefined;
    const tail = { now: this.#tailOf(shown), usual: usual() };
    return { ...measured, ...tailBeside(tail, this.#options) };
  }

  /** What requests take in the windows that are shown, or the last of them. */
  #tailOf(shown: readonly WholeRequests[]): TDigest {
    return TDigest.merge(this.#digests.slice(-shown.length).flat());
  }

  /** The windows that a verdict is of. */
  #shown({ windows }: ProportionVerdict): readonly WholeRequests[] {
    return this.#last.slice(-windows).map(({ whole }) => whole);
  }

  #ended(resolution: Resolution): void {
    if (resolution === 'adopted') this.#adopt();
    else this.#candidate = undefined;
    this.#test.forgetRun();
  }

  /** Windows from here on belong to an anomaly: the candidate learns them, the baseline never. */
  #setAside(fromMs: number): void {
    for (const entry of this.#quarantine) {
      if (!entry.learnable || entry.startMs < fromMs) continue;
      entry.learnable = false;
      this.#learnAside(entry);
    }
  }

  #learnAside({ startMs, requests, hits }: Quarantined): void {
    this.#candidate ??= this.#newBaseline();
    this.#candidate.learn(startMs, requests, hits);
  }

  /** Lets the oldest window out of quarantine and learns it, if nothing speaks against it. */
  #learn(): void {
    if (this.#quarantine.length <= quarantineWindows) return;
    const entry = this.#quarantine.shift() as Quarantined;
    const { startMs, requests, hits } = entry;
    // The test learns odd windows too: leaving them out would make the next one look odder.
    this.#test.settle(entry, entry.learnable);
    if (!entry.learnable) return;
    if (!entry.suspicious) {
      this.#baseline.learn(startMs, requests, hits);
      if (!this.#track.isOpen) this.#candidate = undefined;
      return;
    }
    this.#learnAside(entry);
    this.#adoptUnopened();
  }

  /** Odd windows in a row that never sufficed to page become usual after a baseline's length. */
  #adoptUnopened(): void {
    const reference = this.#candidate?.reference();
    if (this.#track.isOpen || reference === undefined) return;
    const { baseline, min_baseline_windows } = this.#options;
    const isLong = this.#lastSeenMs - reference.fromMs >= baseline - baseline / 8;
    if (isLong && reference.windows >= min_baseline_windows) this.#adopt();
  }

  #adopt(): void {
    this.#baseline = this.#candidate ?? this.#newBaseline();
    this.#candidate = undefined;
    for (const entry of this.#quarantine) entry.learnable = false;
    this.#test.rebase();
  }

  #newBaseline(): RateBaseline {
    return new RateBaseline(this.#options.baseline, this.#options.window);
  }
}

function carryEntry(state: StateArchive, entry: Quarantined | undefined): Quarantined {
  const startMs = state.number(entry?.startMs ?? 0);
  const whole = {
    stage: state.text(entry?.whole.stage ?? ''),
    requests: state.number(entry?.whole.requests ?? 0),
    errors: state.number(entry?.whole.errors ?? 0),
    timeouts: state.number(entry?.whole.timeouts ?? 0),
  };
  const hits = state.number(entry?.hits ?? 0);
  const learnable = state.flag(entry?.learnable ?? false);
  const suspicious = state.flag(entry?.suspicious ?? false);
  const { requests } = whole;
  return entry ?? { startMs, requests, hits, whole, learnable, suspicious };
}
