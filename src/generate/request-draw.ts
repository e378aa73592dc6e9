import type { FaultEffects } from './fault-effects.ts';
import {
  forwardStageOf,
  type ModelProfile,
  type RequestTypeProfile,
  type SizeProfile,
  type StageProfile,
} from './model-profile.ts';
import type { Random } from './random.ts';

/** One request in this many has one far longer stage: a page fault, a lost packet. */
const TAIL_SHARE = 0.003;
const TAIL_LEAST = 2;
const TAIL_ALPHA = 1.8;
const TAIL_MOST = 25;
const ERROR_SHARE = 0.002;
const TIMEOUT_SHARE = 0.0005;

/**
 * Draws the properties and costs of one request, apart from waiting. The next `draw` overwrites the fields.
 * Faults change neither the order nor the number of draws, so a fault changes only the property that it is
 * about.
 */
export class RequestDraw {
  readonly stageNames: readonly string[];
  readonly queueStage: number;
  readonly forwardStage: number;
  readonly #model: ModelProfile;
  readonly #type: RequestTypeProfile;
  readonly #stages: readonly (StageProfile | undefined)[];
  readonly #coldStage: number;
  /** Milliseconds per stage, 0 for an absent one. */
  readonly stageMs: Float64Array;
  /** Time for which it holds its slot. */
  holdMs = 0;
  coldStart = false;
  cacheHit = false;
  fails = false;
  /** True where it hangs until its deadline. */
  hangs = false;
  /** Point in the forward pass at which it fails, (0, 1). */
  failsAt = 0;
  items = 0;
  inputTokens = 0;
  outputTokens = 0;
  requestBytes = 0;
  responseBytes = 0;
  traceId = '';

  constructor(model: ModelProfile, type: RequestTypeProfile) {
    this.#model = model;
    this.#type = type;
    const stages: (StageProfile | undefined)[] = [...model.stages];
    const names = model.stages.map(({ name }) => name);
    if (!names.includes(model.coldStart.stage)) {
      // Loading the model comes right before the first computation that needs it.
      const at = model.stages.findIndex(({ holdsSlot }) => holdsSlot === true);
      stages.splice(at, 0, undefined);
      names.splice(at, 0, model.coldStart.stage);
    }
    this.stageNames = names;
    this.#stages = stages;
    this.#coldStage = names.indexOf(model.coldStart.stage);
    this.queueStage = names.indexOf('queue');
    this.forwardStage = names.indexOf(forwardStageOf(model));
    this.stageMs = new Float64Array(names.length);
  }

  /** Draws the next request of `random` on a host, under the effects already evaluated. */
  draw(random: Random, effects: FaultEffects, slowness: number): void {
    const model = this.#model;
    this.coldStart = random.chance(model.coldStart.share) || effects.startsCold;
    this.cacheHit = random.chance(model.cacheHitShare ?? 0) && !effects.missesCache;
    this.fails = random.chance(ERROR_SHARE) || effects.fails;
    this.hangs = random.chance(TIMEOUT_SHARE);
    this.failsAt = 0.05 + 0.9 * random.uniform();
    this.#drawSizes(random, effects.sizeFactor);
    this.#drawStages(random, effects, slowness);
    const loadMs = random.lognormal(model.coldStart.medianMs, model.coldStart.sigma);
    if (this.coldStart) {
      const factor = effects.stageFactors[this.#coldStage] as number;
      this.stageMs[this.#coldStage] = (this.stageMs[this.#coldStage] as number) + loadMs * factor;
    }
    this.traceId = hex8(random) + hex8(random) + hex8(random) + hex8(random);
  }

  #drawSizes(random: Random, factor: number): void {
    const { items, inputTokens, outputTokens } = this.#type;
    const { bytesPerItem, bytesPerToken } = this.#model;
    this.items = drawSize(items, factor, random);
    this.inputTokens = inputTokens === undefined ? 0 : drawSize(inputTokens, factor, random);
    this.outputTokens = outputTokens === undefined ? 0 : drawSize(outputTokens, factor, random);
    const jitter = 0.9 + 0.2 * random.uniform();
    this.requestBytes = Math.round(
      180 + jitter * (bytesPerItem * this.items + bytesPerToken * this.inputTokens),
    );
    this.responseBytes = Math.round(140 + jitter * (24 * this.items + 4.4 * this.outputTokens));
  }

  #drawStages(random: Random, effects: FaultEffects, slowness: number): void {
    const stages = this.#stages;
    const common = random.normal();
    let holdMs = 0;
    let heldMs = 0;
    // A rare slow stage can be any but the queue, which has its own model.
    const tail = random.chance(TAIL_SHARE);
    const tailStage = Math.floor(random.uniform() * stages.length);
    const tailFactor = Math.min(TAIL_MOST, random.pareto(TAIL_LEAST, TAIL_ALPHA));
    for (let i = 0; i < stages.length; i++) {
      const own = random.normal();
      const stage = stages[i];
      if (stage === undefined) {
        this.stageMs[i] = 0;
        continue;
      }
      let ms = stage.baseMs;
      const perUnit = stage.perUnitMs;
      if (perUnit !== undefined) {
        ms += (perUnit.items ?? 0) * this.items;
        ms += (perUnit.input_tokens ?? 0) * this.inputTokens;
        ms += (perUnit.output_tokens ?? 0) * this.outputTokens;
      }
      ms *= Math.exp(stage.sigma * Math.SQRT1_2 * (common + own));
      if (stage.hitFactor !== undefined && this.cacheHit) ms *= stage.hitFactor;
      if (tail && i === tailStage && i !== this.queueStage) ms *= tailFactor;
      const factor = effects.stageFactors[i] as number;
      if (stage.holdsSlot === true) {
        ms *= slowness;
        holdMs += ms;
        heldMs += ms * factor;
      }
      this.stageMs[i] = ms * factor;
    }
    this.holdMs = (effects.knockOn ? heldMs : holdMs) * effects.holdFactor;
  }
}

/** Draws a whole number from the mixture, clamped to its limits. It always makes two draws. */
function drawSize(profile: SizeProfile, factor: number, random: Random): number {
  let rest = random.uniform();
  const normal = random.normal();
  let part = profile.parts[0];
  for (const candidate of profile.parts) {
    part = candidate;
    rest -= candidate.share;
    if (rest < 0) break;
  }
  const { median = 1, sigma = 0 } = part ?? {};
  const size = Math.round(factor * median * Math.exp(sigma * normal));
  return Math.min(profile.most, Math.max(profile.least, size));
}

const hexBytes = Array.from({ length: 65_536 }, (_, n) => n.toString(16).padStart(4, '0'));

function hex8(random: Random): string {
  const bits = random.uint32();
  return (hexBytes[bits >>> 16] as string) + (hexBytes[bits & 0xffff] as string);
}
