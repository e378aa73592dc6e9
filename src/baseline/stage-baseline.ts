import { hourMs } from '../base/time.ts';
import { Arena, type ArenaScope } from '../memory/arena.ts';
import { RangeSums } from '../memory/range-sums.ts';
import type { Bands, StageSummary } from '../series/series-window.ts';
import type { TDigest } from '../sketch/t-digest.ts';
import type { StateArchive } from '../snapshot/archive.ts';
import type { BaselinePeriods } from './baseline-periods.ts';
import { DiurnalProfile, DiurnalRatios } from './diurnal-profile.ts';
import { DurationHistogram } from './durations/duration-histogram.ts';
import { type StageBands, type StageReference, serializeReference } from './series-reference.ts';

interface Block {
  readonly startMs: number;
  readonly durations: DurationHistogram;
  readonly bands: RangeSums;
  readonly bandsMs: RangeSums;
  lastEndMs: number;
  windows: number;
}

/**
 * Baseline of one stage of one series. Windows go in, in order; a merged reference comes out, as of its last
 * renewal.
 *
 * A better hour does not make an anomaly of the daily baseline: the reference is at most a little faster
 * than this time of the day was on the days before. A level becomes the daily baseline within days.
 *
 * While no window is learnt, during an incident, it can follow the day: by how much durations changed by then
 * on the days before.
 *
 * Memory: nine blocks of a histogram and the bands, some 35 KB. Learning a window costs half a microsecond,
 * renewing the reference some ten.
 */
export class StageBaseline {
  readonly #periods: BaselinePeriods;
  readonly #scope = Arena.shared().scope();
  readonly #day = new DiurnalProfile();
  #blocks: Block[] = [];
  /** Time before which no block expires. */
  #heldUntilMs = Number.NEGATIVE_INFINITY;
  #windows = 0;
  #reference: StageReference | undefined;
  #referencePeriod = Number.NaN;
  /** Last reference before it began to follow the day; undefined once a window is learnt. */
  #followedFrom: StageReference | undefined;

  constructor(periods: BaselinePeriods) {
    this.#periods = periods;
  }

  /** Adds a window, later than all before. */
  learn(startMs: number, { digest, bands, bandsMs }: StageSummary): void {
    this.#applyDiurnal();
    const block = this.#blockAt(startMs);
    block.durations.add(digest);
    block.bands.addAll(bands.bands, bands.amounts);
    block.bandsMs.addAll(bandsMs.bands, bandsMs.amounts);
    block.lastEndMs = startMs + this.#periods.windowMs;
    block.windows += 1;
    this.#windows += 1;
    const period = this.#periods.renewalOf(startMs, this.#windows);
    if (period !== this.#referencePeriod) this.#reference = undefined;
    this.#referencePeriod = period;
  }

  /** Keeps its blocks, of any age, for a baseline's length from then on. */
  hold(fromMs: number): void {
    this.#heldUntilMs = fromMs + this.#periods.baselineMs;
  }

  /** Moves the reference to the time of day around `ms`, if there is a diurnal pattern. */
  advance(ms: number): void {
    this.#followedFrom ??= this.reference();
    const from = this.#followedFrom;
    if (from === undefined) return;
    const diurnal = this.#day.between(from.toMs, ms + this.#periods.baselineMs / 2);
    const moved = diurnal && { ...from, diurnal, digest: diurnal.applyTo(from.digest) };
    this.#reference = moved ?? from;
  }

  get windows(): number {
    return this.#windows;
  }

  /** Returns true while the reference is up to date. */
  get isRenewed(): boolean {
    return this.#reference !== undefined;
  }

  /** Reference: undefined before the first window, and the same object until renewed. */
  reference(): StageReference | undefined {
    if (this.#reference !== undefined) return this.#reference;
    const first = this.#blocks[0];
    const last = this.#blocks.at(-1);
    if (first === undefined || last === undefined) return undefined;
    const own = this.#digest();
    const raised = this.#day.raisedToDaily(last.lastEndMs, own);
    this.#reference = {
      digest: raised?.applyTo(own) ?? own,
      windows: this.#windows,
      fromMs: first.startMs,
      toMs: last.lastEndMs,
      allowance: 1,
    };
    return this.#reference;
  }

  /** Bands of all windows held, for `total` also its milliseconds. */
  bands(): StageBands {
    return {
      bands: bandsOf(this.#blocks.map(({ bands }) => bands)),
      bandsMs: bandsOf(this.#blocks.map(({ bandsMs }) => bandsMs)),
    };
  }

  serialize(state: StateArchive): void {
    state.section('stage baseline', 3, () => {
      this.#blocks = state.list(this.#blocks, (block) =>
        serializeBlock(state, block ?? newBlock(0, this.#scope)),
      );
      this.#windows = state.number(this.#windows);
      this.#reference = state.optional(this.#reference, (own) => serializeOwn(state, own));
      this.#referencePeriod = state.number(this.#referencePeriod);
      this.#heldUntilMs = state.number(this.#heldUntilMs);
      this.#followedFrom = state.optional(this.#followedFrom, (own) => serializeOwn(state, own));
      this.#day.serialize(state);
    });
  }

  /** Returns the block of a window, and drops expired blocks. */
  #blockAt(startMs: number): Block {
    const { baselineMs, blockMs } = this.#periods;
    const blockStartMs = this.#periods.blockOf(startMs);
    const last = this.#blocks.at(-1);
    if (last?.startMs === blockStartMs) return last;
    const isHeld = blockStartMs < this.#heldUntilMs;
    if (last !== undefined && !isHeld) this.#learnDay(last.startMs);
    const block = newBlock(blockStartMs, this.#scope, last);
    const keepFromMs = isHeld ? Number.NEGATIVE_INFINITY : blockStartMs - baselineMs;
    const isKept = ({ startMs: at }: Block) => at + blockMs > keepFromMs;
    for (const old of this.#blocks) if (!isKept(old)) release(old);
    this.#blocks = this.#blocks.filter(isKept);
    this.#blocks.push(block);
    this.#windows = this.#blocks.reduce((sum, { windows }) => sum + windows, 0);
    return block;
  }

  /** Adds a full baseline to the diurnal profile, if an hour ends with its last block. */
  #learnDay(lastBlockMs: number): void {
    const { baselineMs, blockMs } = this.#periods;
    const endMs = lastBlockMs + blockMs;
    if (Math.floor(endMs / hourMs) === Math.floor(lastBlockMs / hourMs)) return;
    const fromMs = this.#blocks[0]?.startMs ?? endMs;
    if (endMs - fromMs >= baselineMs) this.#day.learn(endMs, this.#digest());
  }

  /** Replaces the blocks by the reference that has followed the day. */
  #applyDiurnal(): void {
    if (this.#followedFrom === undefined) return;
    this.#followedFrom = undefined;
    const last = this.#blocks.at(-1);
    const reference = this.#reference;
    if (last === undefined || reference?.diurnal === undefined) return;
    for (const { durations } of this.#blocks) durations.release();
    last.durations.add(reference.digest);
    this.#reference = undefined;
  }

  #digest(): TDigest {
    return DurationHistogram.digestOf(this.#blocks.map(({ durations }) => durations));
  }
}

/** Allocates the ranges of the block before, where most new values are. */
function newBlock(startMs: number, scope: ArenaScope, previous?: Block): Block {
  return {
    startMs,
    durations: previous ? DurationHistogram.like(previous.durations) : DurationHistogram.in(scope),
    bands: previous ? RangeSums.like(previous.bands) : new RangeSums(1, scope),
    bandsMs: previous ? RangeSums.like(previous.bandsMs) : new RangeSums(1, scope),
    lastEndMs: 0,
    windows: 0,
  };
}

function release({ durations, bands, bandsMs }: Block): void {
  for (const sums of [durations, bands, bandsMs]) sums.release();
}

function serializeBlock(state: StateArchive, block: Block): Block {
  const startMs = state.number(block.startMs);
  block.durations.serialize(state);
  block.bands.serialize(state);
  block.bandsMs.serialize(state);
  const lastEndMs = state.number(block.lastEndMs);
  const windows = state.number(block.windows);
  return { ...block, startMs, lastEndMs, windows };
}

function serializeOwn(state: StateArchive, saved: StageReference | undefined): StageReference {
  return {
    ...serializeReference(state, saved),
    diurnal: state.optional(saved?.diurnal, (ratios) => DiurnalRatios.serialize(state, ratios)),
    allowance: 1,
  };
}

/** Adds up sums of one column. */
function bandsOf(parts: readonly RangeSums[]): Bands {
  const used = parts.filter(({ range }) => range > 0);
  const least = Math.min(...used.map(({ low }) => low));
  const end = Math.max(...used.map(({ low, range }) => low + range));
  const sums = new Float64Array(used.length === 0 ? 0 : end - least);
  for (const { low, values } of used) {
    values.forEach((amount, i) => {
      sums[low - least + i] = (sums[low - least + i] as number) + amount;
    });
  }
  const bands = [...sums.keys()].filter((i) => (sums[i] as number) > 0);
  return {
    bands: bands.map((i) => least + i),
    amounts: bands.map((i) => sums[i] as number),
  };
}
