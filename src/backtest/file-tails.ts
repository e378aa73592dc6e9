import { type DimensionName, totalStage } from '../base/dimensions.ts';
import type { Config } from '../config/schema.ts';
import { dimensionValue } from '../series/series-key.ts';
import type { Series, StageSummary } from '../series/series-window.ts';
import type { WindowsAt } from '../sink/windows/each-window.ts';
import { namedPercentiles, percentiles, type StageTails } from '../sink/windows/read-tails.ts';
import { CensoredDigest } from '../sketch/censored-digest.ts';
import { TDigest } from '../sketch/t-digest.ts';
import { type EventFile, readFileWindows } from './file-windows.ts';

/** Digests that are held before they are merged into one. */
const MERGED_AT_ONCE = 64;

/** Tails of a file, and how many of its events are not in them. */
export interface FileTails {
  readonly tails: readonly StageTails[];
  readonly events: number;
  /** Rejected or late. */
  readonly notCounted: number;
}

/**
 * Tails of each model and stage of a file of timing events, by the counting and sketches of a pipeline, without one.
 * Memory: a digest a model and stage, in addition to `MemoryWindows`.
 *
 * @param isWanted chooses series and stages.
 * @param by dimension whose values have tails of their own.
 * @throws OperatorError as `readFileWindows` does.
 */
export async function readFileTails(
  config: Config,
  file: EventFile,
  isWanted: (series: Series, stage: string) => boolean,
  by?: DimensionName,
): Promise<FileTails> {
  const parts = new Map<string, Part>();
  const add = (complete: Iterable<WindowsAt>) => {
    for (const { windows } of complete) {
      for (const { series, stages } of windows) {
        for (const summary of stages.values()) {
          if (!isWanted(series, summary.stage)) continue;
          const value = by === undefined ? undefined : valueIn(series, by);
          const key = JSON.stringify([series.model, summary.stage, value]);
          const part = parts.get(key) ?? new Part(series.model, summary.stage, value);
          parts.set(key, part);
          part.add(summary);
        }
      }
    }
  };
  const windows = await readFileWindows(config, file, add, { gaps: true });
  const { events, rejected, late } = windows.counts;
  const tails = [...parts.values()].map((part) => part.tails()).sort(byName);
  return { tails, events, notCounted: rejected + late };
}

/** By model; its total first, then its stages, the slowest first: as the query of the tables. */
function byName(a: StageTails, b: StageTails): number {
  if (a.model !== b.model) return a.model < b.model ? -1 : 1;
  const isTotal = Number(b.stage === totalStage) - Number(a.stage === totalStage);
  return isTotal || b.p99_ms - a.p99_ms;
}

function valueIn(series: Series, by: DimensionName): string {
  if (by !== 'cold_start') return dimensionValue(series, by);
  return series.cold_start ? 'cold' : 'warm';
}

/** Sums of one model and stage, and of one value where they are by a dimension. */
class Part {
  readonly #model: string;
  readonly #stage: string;
  readonly #value: string | undefined;
  readonly #ended = new Merged();
  readonly #censored = new Merged();
  #requests = 0;
  #failed = 0;
  #sumMs = 0;
  #maxMs = 0;

  constructor(model: string, stage: string, value: string | undefined) {
    this.#model = model;
    this.#stage = stage;
    this.#value = value;
  }

  add({ digest, censored, ended, requests, errors, timeouts, sumMs, maxMs }: StageSummary): void {
    this.#ended.add(ended ?? digest);
    if (censored !== undefined) this.#censored.add(censored);
    this.#requests += requests;
    this.#failed += errors + timeouts;
    this.#sumMs += sumMs;
    this.#maxMs = Math.max(this.#maxMs, maxMs);
  }

  tails(): StageTails {
    const censored = this.#censored.digest();
    const digest = new CensoredDigest(this.#ended.digest(), censored);
    const quantiles = Object.values(percentiles).map((q) => digest.quantile(q));
    return {
      model: this.#model,
      stage: this.#stage,
      ...(this.#value === undefined ? {} : { value: this.#value }),
      requests: this.#requests,
      failed: this.#failed,
      mean_ms: this.#sumMs / this.#requests,
      ...namedPercentiles(quantiles),
      max_ms: this.#maxMs,
      censored: censored.count,
    };
  }
}

/** Digests as one, of which few are held. */
class Merged {
  #digests: TDigest[] = [];

  add(digest: TDigest): void {
    this.#digests.push(digest);
    if (this.#digests.length >= MERGED_AT_ONCE) this.#digests = [TDigest.merge(this.#digests)];
  }

  digest(): TDigest {
    return TDigest.merge(this.#digests);
  }
}
