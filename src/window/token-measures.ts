import { firstTokenNames, measures } from '../base/dimensions.ts';
import { amountFacets } from '../base/facets.ts';
import type { DecodedEvent } from '../decode/decoded-event.ts';
import { Interner } from '../decode/interner.ts';
import { StageTags } from '../decode/stage-tags.ts';

const inputTokensIndex = amountFacets.indexOf('input_tokens');
const outputTokensIndex = amountFacets.indexOf('output_tokens');

const firstToken = 1;
const prefill = 2;
const timePerOutputToken = { name: measures.timePerOutputToken, tag: 4 } as const;
const prefillPer1k = { name: measures.prefillPer1kInputTokens, tag: 8 } as const;
type Measure = typeof timePerOutputToken | typeof prefillPer1k;
/** Tags of stages that measures are derived from, and of the measures. */
const tags: ReadonlyMap<string, number> = new Map([
  ...firstTokenNames.map((name) => [name, firstToken] as const),
  ['prefill', prefill],
  ...[timePerOutputToken, prefillPer1k].map(({ name, tag }) => [name, tag] as const),
]);

/**
 * Tokens from which a measure is derived: the first output token has no gap before it, and the prefill of a
 * short prompt is its fixed cost. Scaled up, the tail of a measure would be that of the shortest prompts.
 */
const leastTokens = { input: 1_000, output: 2 } as const;

/**
 * Derives the measures of an event with tokens, and appends them to its stages:
 *
 *     time_per_output_token        (total − first token) / (output tokens − 1), from two output tokens on
 *     prefill_per_1k_input_tokens  prefill × 1000 / input tokens, from 1,000 input tokens on
 *
 * A value that the event has under such a name stays. The measures depend on the event alone, so a chunk that
 * is read twice counts the same. An event without tokens costs two comparisons, another a look-up a stage.
 */
export class TokenMeasures {
  readonly #stages: Interner;
  readonly #tags: StageTags;
  /** Ids of the measures by their tags, of one generation of the interner; -1: not interned yet. */
  readonly #ids = new Int32Array(16);
  #generation = -1;

  /** @param stages interner of the events' stages. */
  constructor(stages: Interner) {
    this.#stages = stages;
    this.#tags = new StageTags(stages, (name) => tags.get(name) ?? 0);
  }

  append(event: DecodedEvent): void {
    const inputTokens = event.amounts[inputTokensIndex] as number;
    const outputTokens = event.amounts[outputTokensIndex] as number;
    // An absent one is NaN, of which neither is true.
    if (
      !(inputTokens >= leastTokens.input || outputTokens >= leastTokens.output) ||
      !this.#tags.hasAny()
    )
      return;
    const { stageIds, stageMs, stageCount } = event;
    let seen = 0;
    let firstTokenMs = Number.NaN;
    let prefillMs = Number.NaN;
    for (let i = 0; i < stageCount; i++) {
      const tag = this.#tags.of(stageIds[i] as number);
      if (tag === firstToken) firstTokenMs = stageMs[i] as number;
      else if (tag === prefill) prefillMs = stageMs[i] as number;
      seen |= tag;
    }
    if ((seen & firstToken) !== 0 && outputTokens >= leastTokens.output) {
      const ms = (event.totalMs - firstTokenMs) / (outputTokens - 1);
      this.#add(event, timePerOutputToken, ms, seen);
    }
    if ((seen & prefill) !== 0 && inputTokens >= leastTokens.input) {
      this.#add(event, prefillPer1k, (prefillMs * 1000) / inputTokens, seen);
    }
  }

  #add(event: DecodedEvent, measure: Measure, ms: number, seen: number): void {
    // A partial event has no total, and clocks of spans may differ.
    if (!(ms >= 0) || (seen & measure.tag) !== 0) return;
    const id = this.#idOf(measure);
    // Beyond the limit of names it would count as `__other__`, which is a stage.
    if (id === Interner.otherId) return;
    event.stageIds[event.stageCount] = id;
    event.stageMs[event.stageCount++] = ms;
  }

  /** Id of a measure's name, interned once a chunk: that costs as much as counting two stages. */
  #idOf({ name, tag }: Measure): number {
    if (this.#generation !== this.#stages.generation) {
      this.#generation = this.#stages.generation;
      this.#ids.fill(-1);
    }
    const known = this.#ids[tag] as number;
    if (known >= 0) return known;
    const id = this.#stages.internText(name);
    this.#ids[tag] = id;
    return id;
  }
}
