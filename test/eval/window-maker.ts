import { coldStartIndex, dimensions } from '../../src/base/dimensions.ts';
import { limits } from '../../src/base/limits.ts';
import type { Series, SeriesWindow, StageSummary } from '../../src/baseline/series-window.ts';
import { configSchema } from '../../src/config/schema.ts';
import { EventRecord } from '../../src/decode/event-record.ts';
import { Interner } from '../../src/decode/interner.ts';
import { chunkSettingsOf } from '../../src/ingest/chunk-settings.ts';
import { stageSummary } from '../../src/watch/stage-summary.ts';
import { ChunkAccumulator } from '../../src/window/chunk-accumulator.ts';

const modelIndex = dimensions.indexOf('model');
const versionIndex = dimensions.indexOf('version');

/**
 * Windows as the detector reads them, from requests as numbers: the real counting, sketches and bands,
 * without the JSON. test/eval/window-maker.test.ts holds them against those made of messages.
 */
export class WindowMaker {
  readonly #names = {
    stages: new Interner(limits.stageNames),
    values: new Interner(limits.internedValues),
  };
  readonly #chunk = new ChunkAccumulator({
    ...chunkSettingsOf(configSchema.parse({})),
    ...this.#names,
  });
  readonly #record = new EventRecord();
  /** The interner is never cleared, so that ids hold. */
  readonly #stageIds = new Map<string, number>();
  readonly #windowMs: number;
  #startMs = 0;

  constructor(windowMs: number) {
    this.#windowMs = windowMs;
  }

  begin(startMs: number, version: string): void {
    this.#chunk.begin(Number.NEGATIVE_INFINITY, Number.MAX_SAFE_INTEGER);
    this.#startMs = startMs;
    this.#record.tsMs = startMs;
    this.#record.dimensionIds[modelIndex] = this.#names.values.internText('ranker');
    this.#record.dimensionIds[versionIndex] = this.#names.values.internText(version);
  }

  /** Adds a request; its total is the sum of its stages. */
  add(stages: readonly string[], ms: ArrayLike<number>): void {
    const record = this.#record;
    record.stageCount = stages.length;
    record.totalMs = 0;
    for (let i = 0; i < stages.length; i++) {
      record.stageIds[i] = this.#stageId(stages[i] as string);
      record.stageMs[i] = ms[i] as number;
      record.totalMs += ms[i] as number;
    }
    this.#chunk.add(record);
  }

  #stageId(name: string): number {
    let id = this.#stageIds.get(name);
    if (id === undefined) {
      id = this.#names.stages.internText(name);
      this.#stageIds.set(name, id);
    }
    return id;
  }

  /** The window's series: one, or none if it had no request. */
  end(): SeriesWindow[] {
    const chunk = this.#chunk;
    if (chunk.cellCount === 0) return [];
    const stages = new Map<string, StageSummary>();
    for (let row = 0; row < chunk.rows.size; row++) {
      const summary = stageSummary(chunk, row, this.#names.stages);
      stages.set(summary.stage, summary);
    }
    const named = dimensions.map((name, i) => {
      const id = chunk.cellDimension(0, i);
      return [name, i === coldStartIndex ? id === 1 : this.#names.values.text(id)];
    });
    const series: Series = Object.fromEntries(named);
    return [{ windowStartMs: this.#startMs, windowMs: this.#windowMs, series, stages }];
  }
}
