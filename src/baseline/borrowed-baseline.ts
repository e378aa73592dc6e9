import { type Dimension, dimensions } from '../base/dimensions.ts';
import { mergeBands } from '../series/bands.ts';
import type { Bands, Series } from '../series/series-window.ts';
import { serializeBands, serializeSeries } from '../series/snapshot-series.ts';
import { TDigest } from '../sketch/t-digest.ts';
import type { StateArchive } from '../snapshot/archive.ts';
import {
  type SeriesReference,
  type StageBands,
  type StageReference,
  serializeReference,
} from './series-reference.ts';

export interface DimensionValue {
  readonly dimension: Dimension;
  readonly value: string;
}

/** A series that lends its baseline to another one. */
export interface Lender {
  readonly series: Series;
  readonly baseline: SeriesReference;
}

interface BorrowedStage {
  readonly reference: StageReference;
  readonly bands: StageBands;
}

/**
 * Factor by which a new series may be slower than its lenders: a release that is 10 % slower does not page
 * (test/eval/releases). Without it, a stage of little variance would be evidence enough.
 */
const allowance = 1.1;

const noBands: Bands = { bands: [], amounts: [] };

/**
 * The baselines of other series, merged by traffic, for a series without a baseline of its own. It is a copy
 * as of its making, and does not change.
 *
 * Memory: a digest and the bands of each stage, some 5 KB. Cost: a merge of digests a stage.
 */
export class BorrowedBaseline implements SeriesReference {
  readonly renewal = {};
  readonly #stages: ReadonlyMap<string, BorrowedStage>;
  /** Series that lend their baselines. */
  readonly lenders: readonly Series[];

  private constructor(lenders: readonly Series[], stages: ReadonlyMap<string, BorrowedStage>) {
    this.lenders = lenders;
    this.#stages = stages;
  }

  /** Merges the lenders' baselines; undefined if none has a stage of `minWindows` windows. */
  static of(lenders: readonly Lender[], minWindows: number): BorrowedBaseline | undefined {
    const names = new Set(lenders.flatMap(({ baseline }) => [...baseline.stageNames]));
    const stages = new Map<string, BorrowedStage>();
    for (const name of names) {
      const references: StageReference[] = [];
      const bands: StageBands[] = [];
      for (const { baseline } of lenders) {
        const reference = baseline.reference(name, minWindows);
        if (reference === undefined) continue;
        references.push(reference);
        bands.push(baseline.bands(name) ?? { bands: noBands, bandsMs: noBands });
      }
      if (references.length === 0) continue;
      stages.set(name, { reference: mergedReference(references), bands: mergedBands(bands) });
    }
    if (stages.size === 0) return undefined;
    return new BorrowedBaseline(
      lenders.map(({ series }) => series),
      stages,
    );
  }

  get stageNames(): Iterable<string> {
    return this.#stages.keys();
  }

  reference(stage: string, minWindows: number): StageReference | undefined {
    const reference = this.#stages.get(stage)?.reference;
    return reference === undefined || reference.windows < minWindows ? undefined : reference;
  }

  bands(stage: string): StageBands | undefined {
    return this.#stages.get(stage)?.bands;
  }

  /** Dimension values in which the lenders differ from a series, at most `most` of them. */
  differencesTo(series: Series, most = 5): DimensionValue[] {
    const differences = new Map<string, DimensionValue>();
    for (const lender of this.lenders) {
      for (const dimension of dimensions) {
        const value = `${lender[dimension]}`;
        if (lender[dimension] === series[dimension] || value === '') continue;
        differences.set(`${dimension} ${value}`, { dimension, value });
      }
    }
    return [...differences.values()].slice(0, most);
  }

  static serialize(state: StateArchive, saved: BorrowedBaseline | undefined): BorrowedBaseline {
    return state.section('borrowed baseline', 3, () => {
      const lenders = state.list(saved?.lenders ?? [], (series) => serializeSeries(state, series));
      const known = saved === undefined ? [] : saved.#stages;
      const stages = state.list(known, (entry) => serializeStage(state, entry));
      return saved ?? new BorrowedBaseline(lenders, new Map(stages));
    });
  }
}

function mergedReference(references: readonly StageReference[]): StageReference {
  const [first] = references as readonly [StageReference];
  const isOne = references.length === 1;
  return {
    digest: isOne ? first.digest : TDigest.merge(references.map(({ digest }) => digest)),
    windows: references.reduce((sum, { windows }) => sum + windows, 0),
    fromMs: Math.min(...references.map(({ fromMs }) => fromMs)),
    toMs: Math.max(...references.map(({ toMs }) => toMs)),
    allowance,
  };
}

function mergedBands(parts: readonly StageBands[]): StageBands {
  return {
    bands: mergeBands(parts.map(({ bands }) => bands)),
    bandsMs: mergeBands(parts.map(({ bandsMs }) => bandsMs)),
  };
}

function serializeStage(
  state: StateArchive,
  saved: readonly [string, BorrowedStage] | undefined,
): [string, BorrowedStage] {
  const [name = '', stage] = saved ?? [];
  const restoredName = state.text(name);
  const reference = { ...serializeReference(state, stage?.reference), allowance };
  const bands = serializeBands(state, stage?.bands.bands);
  const bandsMs = serializeBands(state, stage?.bands.bandsMs);
  return [restoredName, { reference, bands: { bands, bandsMs } }];
}
