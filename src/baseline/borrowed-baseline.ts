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

interface BorrowedStage extends StageBands {
  readonly reference: StageReference;
}

/**
 * Factor by which a new series may be slower than its lenders: a release that is 10 % slower does not page
 * (test/eval/releases). Without it, a stage of little variance would be evidence enough.
 */
const allowance = 1.1;

const noBands: Bands = { bands: [], amounts: [] };

/**
 * The baselines of other series, merged by traffic, for a series without its own baseline. It is a copy as of
 * its making, and does not change.
 *
 * Memory: a digest and the bands of each stage, some 5 KB. Cost: a merge of digests a stage.
 */
export class BorrowedBaseline implements SeriesReference {
  readonly renewal = {};
  readonly #stages: ReadonlyMap<string, BorrowedStage>;
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
      const lent = lenders.flatMap(({ baseline }): BorrowedStage[] => {
        const reference = baseline.reference(name, minWindows);
        if (reference === undefined) return [];
        const { bands = noBands, bandsMs = noBands } = baseline.bands(name) ?? {};
        return [{ reference, bands, bandsMs }];
      });
      if (lent.length > 0) stages.set(name, merged(lent));
    }
    const series = lenders.map((lender) => lender.series);
    return stages.size === 0 ? undefined : new BorrowedBaseline(series, stages);
  }

  get stageNames(): Iterable<string> {
    return this.#stages.keys();
  }

  reference(stage: string, minWindows: number): StageReference | undefined {
    const reference = this.#stages.get(stage)?.reference;
    return reference === undefined || reference.windows < minWindows ? undefined : reference;
  }

  bands(stage: string): StageBands | undefined {
    return this.#stages.get(stage);
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

function merged(lent: readonly BorrowedStage[]): BorrowedStage {
  const references = lent.map(({ reference }) => reference);
  const [first] = lent as readonly [BorrowedStage];
  const isOne = references.length === 1;
  return {
    reference: {
      digest: isOne
        ? first.reference.digest
        : TDigest.merge(references.map(({ digest }) => digest)),
      windows: references.reduce((sum, { windows }) => sum + windows, 0),
      fromMs: Math.min(...references.map(({ fromMs }) => fromMs)),
      toMs: Math.max(...references.map(({ toMs }) => toMs)),
      allowance,
    },
    bands: mergeBands(lent.map(({ bands }) => bands)),
    bandsMs: mergeBands(lent.map(({ bandsMs }) => bandsMs)),
  };
}

function serializeStage(
  state: StateArchive,
  saved: readonly [string, BorrowedStage] | undefined,
): [string, BorrowedStage] {
  const [name = '', stage] = saved ?? [];
  const restoredName = state.text(name);
  const reference = { ...serializeReference(state, stage?.reference), allowance };
  const bands = serializeBands(state, stage?.bands);
  const bandsMs = serializeBands(state, stage?.bandsMs);
  return [restoredName, { reference, bands, bandsMs }];
}
