import { coldStartIndex, dimensions, isAttributeName, totalStage } from '../base/dimensions.ts';
import { statuses } from '../base/statuses.ts';
import { type CountedObjective, type Match, objectiveRow } from '../config/slos.ts';
import type { DecodedEvent } from '../decode/decoded-event.ts';
import type { Interner } from '../decode/interner.ts';
import { StageTags } from '../decode/stage-tags.ts';
import { attributeOf } from '../series/attributes.ts';
import { matchesPattern } from '../series/matches-pattern.ts';

const failed = new Set([statuses.indexOf('error'), statuses.indexOf('timeout')]);

/** Stands for the text of the own dimensions, in place of an index. */
const ownDimensions = -1;

/** Whether a value of a dimension matches, by its id. */
interface MatchedValue {
  /** Index of the dimension, or `ownDimensions`. */
  readonly dimension: number;
  /** Tags of the values: 1 for one that matches. Undefined for `cold_start`, whose id is its value. */
  readonly values: StageTags | undefined;
  readonly coldStart: number;
}

interface Counted {
  readonly row: string;
  /** Places of its stages in `#ms`, and their thresholds. */
  readonly places: readonly number[];
  readonly thresholdsMs: readonly number[];
  /** An event is counted if all values of any of these match. */
  readonly match: readonly (readonly MatchedValue[])[];
}

/**
 * Counts joint objectives request by request: a request is good if it takes no longer than each of the
 * thresholds of stages that it has, and does not fail. Each set of thresholds has a row of its own beside
 * those of the stages, in which a good request counts 0 ms and a bad one 1 ms. So `requests` and `sum_ms` of
 * the row are exact counts, through every merge.
 *
 * A request without any of the stages counts only if it failed. An error or a timeout is a failure; a
 * cancelled request is judged by its durations. The counts depend on events and settings alone, so a chunk
 * that is read twice counts the same. Cost: without objectives one comparison an event, else a look-up a
 * stage and some comparisons an objective; no allocation.
 */
export class JointObjectives {
  readonly #stages: Interner;
  readonly #counted: readonly Counted[];
  /** Ids of the rows, in the order of `#counted`: consecutive, as `begin` interns them. */
  readonly #ids: Int32Array;
  /** Stages that have a threshold, and their tags: the place of each, counted from 1. */
  readonly #names: readonly string[];
  readonly #tags: StageTags;
  readonly #totalPlace: number;
  /** Milliseconds of an event by place; NaN where it has none. */
  readonly #ms: Float64Array;
  /** All tags that must learn new values before they are asked. */
  readonly #matchTags: readonly StageTags[];

  /**
   * @param stages interner of the events' stages.
   * @param values interner of the events' dimensions.
   */
  constructor(stages: Interner, values: Interner, objectives: readonly CountedObjective[]) {
    this.#stages = stages;
    this.#names = [...new Set(objectives.flatMap(({ thresholds }) => Object.keys(thresholds)))];
    this.#totalPlace = this.#names.indexOf(totalStage);
    this.#tags = new StageTags(stages, (name) => this.#names.indexOf(name) + 1);
    this.#ms = new Float64Array(this.#names.length);
    this.#ids = new Int32Array(objectives.length);
    this.#counted = objectives.map(({ thresholds, match }) => ({
      row: objectiveRow(thresholds),
      places: Object.keys(thresholds).map((name) => this.#names.indexOf(name)),
      thresholdsMs: Object.values(thresholds),
      match: match.map((each) => matchedValues(each, values)),
    }));
    this.#matchTags = this.#counted.flatMap(({ match }) =>
      match.flat().flatMap((matched) => matched.values ?? []),
    );
  }

  /** Interns the names of a chunk that begins before any of its events: a flood of names displaces none. */
  begin(): void {
    if (this.#counted.length === 0) return;
    for (const name of this.#names) this.#stages.internText(name);
    for (const [i, { row }] of this.#counted.entries()) this.#ids[i] = this.#stages.internText(row);
  }

  /** Reports whether a stage's id is that of a row. */
  isRow(stageId: number): boolean {
    return this.#counted.length > 0 && this.#ids.includes(stageId);
  }

  /**
   * Appends what an event, whose measures are derived, counts in the rows of objectives.
   *
   * @param ids of what is counted of the event, `count` so far.
   * @param durations of the same.
   * @returns the count with the rows.
   */
  append(event: DecodedEvent, ids: Int32Array, durations: Float64Array, count: number): number {
    if (this.#counted.length === 0) return count;
    this.#readStages(event);
    for (const tags of this.#matchTags) tags.hasAny();
    let n = count;
    for (let i = 0; i < this.#counted.length; i++) {
      const counted = this.#counted[i] as Counted;
      const missed = isMatched(counted, event) ? this.#missed(counted, event.status) : -1;
      if (missed < 0) continue;
      ids[n] = this.#ids[i] as number;
      durations[n++] = missed;
    }
    return n;
  }

  #readStages({ stageIds, stageMs, stageCount, totalMs }: DecodedEvent): void {
    this.#ms.fill(Number.NaN);
    this.#tags.hasAny();
    for (let i = 0; i < stageCount; i++) {
      const place = this.#tags.of(stageIds[i] as number) - 1;
      if (place >= 0) this.#ms[place] = stageMs[i] as number;
    }
    if (this.#totalPlace >= 0) this.#ms[this.#totalPlace] = totalMs;
  }

  /** 1 for a bad request, 0 for a good one, -1 for one that says nothing. */
  #missed({ places, thresholdsMs }: Counted, status: number): number {
    if (failed.has(status)) return 1;
    let missed = -1;
    for (let i = 0; i < places.length; i++) {
      const ms = this.#ms[places[i] as number] as number;
      // Of NaN neither is true.
      if (ms > (thresholdsMs[i] as number)) return 1;
      if (ms >= 0) missed = 0;
    }
    return missed;
  }
}

function matchedValues(match: Match, values: Interner): MatchedValue[] {
  const own = Object.entries(match).flatMap(([name, pattern]): MatchedValue[] => {
    if (!isAttributeName(name) || pattern === undefined || pattern === '*') return [];
    const isMatch = (text: string) => matchesPattern(pattern, attributeOf(text, name));
    const tags = new StageTags(values, (text) => (isMatch(text) ? 1 : 0));
    return [{ dimension: ownDimensions, values: tags, coldStart: 0 }];
  });
  const named = dimensions.flatMap((name, dimension): MatchedValue[] => {
    const pattern = match[name];
    if (pattern === undefined || pattern === '*') return [];
    if (dimension === coldStartIndex) {
      return [{ dimension, values: undefined, coldStart: pattern === 'true' ? 1 : 0 }];
    }
    const tags = new StageTags(values, (value) => (matchesPattern(pattern, value) ? 1 : 0));
    return [{ dimension, values: tags, coldStart: 0 }];
  });
  return [...named, ...own];
}

function isMatched({ match }: Counted, { dimensionIds, attributesId }: DecodedEvent): boolean {
  for (const all of match) {
    let isMatch = true;
    for (const { dimension, values, coldStart } of all) {
      const id = dimension === ownDimensions ? attributesId : (dimensionIds[dimension] as number);
      isMatch &&= values === undefined ? id === coldStart : values.of(id) === 1;
    }
    if (isMatch) return true;
  }
  return false;
}
