import { invariant } from '../base/invariant.ts';
import { type Fault, faultDefaults, releasedVersion } from './fault.ts';
import { forwardStageOf, type ModelProfile } from './model-profile.ts';
import type { Random } from './random.ts';

/** Inputs for the effects of one stream of requests (a model, a request type, a region). */
export interface FaultScope {
  readonly model: ModelProfile;
  readonly requestType: string;
  readonly region: string;
  /** Stages that events of this model can have, by index. */
  readonly stageNames: readonly string[];
}

/** Values of absent fields, where the kind has none of its own. */
const defaults = {
  factor: 1,
  share: 1,
  fromMs: 0,
  forMs: Number.POSITIVE_INFINITY,
  rampMs: 0,
  stopMs: 400,
  everyMs: 5_000,
  afterMs: 30_000,
  knockOn: false,
};

type ActiveFault = Fault &
  typeof defaults & {
    readonly toMs: number;
    readonly stageIndices: readonly number[];
    readonly random: Random;
  };

const networkStages = ['ingress', 'downstream', 'egress'];

/**
 * Evaluates the faults that can hit one stream. It draws from its own generator, so a fault changes only the
 * property that it is about. O(faults) a request.
 */
export class FaultEffects {
  readonly #faults: readonly ActiveFault[];
  /** Factor of each stage; valid until the next `evaluate`, as are all fields. */
  readonly stageFactors: Float64Array;
  /** Factor of the time for which the slot is held. */
  holdFactor = 1;
  /** True where longer stages hold the slot longer. */
  knockOn = false;
  fails = false;
  /** Milliseconds after which the request ends without a response; 0 if it gets one. */
  timesOutMs = 0;
  /** Stage in which it hangs until then. */
  hangsIn = 0;
  startsCold = false;
  missesCache = false;
  sizeFactor = 1;
  /** New version that serves it; undefined where that is one of the model's own. */
  version: string | undefined;

  constructor(faults: readonly Fault[], scope: FaultScope, random: Random) {
    this.stageFactors = new Float64Array(scope.stageNames.length).fill(1);
    this.#faults = faults
      .map((fault, n) => activate(fault, scope, random.split(`fault/${n}`)))
      .filter(
        (fault) =>
          (fault.model ?? scope.model.name) === scope.model.name &&
          (fault.region ?? scope.region) === scope.region &&
          (fault.requestType ?? scope.requestType) === scope.requestType,
      );
  }

  /** Returns the factor of the arrivals. */
  rateFactor(atMs: number): number {
    let factor = 1;
    for (const fault of this.#faults) {
      if (fault.kind === 'traffic' && isActive(fault, atMs)) factor *= factorAt(fault, atMs);
    }
    return factor;
  }

  /** Sets the fields for the request (slice, index) that arrives at `atMs`. */
  evaluate(atMs: number, slice: number, index: number, version: string, host: string): void {
    this.#reset();
    for (const fault of this.#faults) {
      if (!isActive(fault, atMs)) continue;
      if (fault.version !== undefined && fault.version !== version) continue;
      if (fault.host !== undefined && fault.host !== host) continue;
      if (fault.share < 1) {
        fault.random.seek(slice, index);
        if (!fault.random.chance(fault.share)) continue;
      }
      this.#apply(fault, factorAt(fault, atMs));
    }
  }

  /** Returns the milliseconds for which the host stands still while a request is on it, [from, to). */
  pausedMs(host: string, arrivalMs: number, endMs: number): number {
    let pausedMs = 0;
    for (const fault of this.#faults) {
      if (fault.kind !== 'pause' || (fault.host !== undefined && fault.host !== host)) continue;
      const { fromMs, toMs, everyMs, stopMs } = fault;
      // Each host stops at its own phase: garbage collectors are not synchronized.
      const firstMs = fromMs + phaseOf(host) * everyMs;
      let n = Math.max(0, Math.floor((arrivalMs - stopMs - firstMs) / everyMs));
      for (; ; n++) {
        const stopsMs = firstMs + n * everyMs;
        // A stop makes the request longer, so the request may last into the next stop.
        if (stopsMs >= toMs || stopsMs >= endMs + pausedMs) break;
        pausedMs += Math.max(0, stopsMs + stopMs - Math.max(stopsMs, arrivalMs));
      }
    }
    return pausedMs;
  }

  #reset(): void {
    this.stageFactors.fill(1);
    this.holdFactor = 1;
    this.knockOn = false;
    this.fails = false;
    this.timesOutMs = 0;
    this.startsCold = false;
    this.missesCache = false;
    this.sizeFactor = 1;
    this.version = undefined;
  }

  #apply(fault: ActiveFault, factor: number): void {
    switch (fault.kind) {
      case 'slow_stage':
      case 'bad_version':
      case 'network':
      case 'release':
        this.knockOn ||= fault.knockOn;
        if (fault.kind === 'release') this.version = releasedVersion;
        for (const stage of fault.stageIndices) {
          this.stageFactors[stage] = (this.stageFactors[stage] as number) * factor;
        }
        break;
      case 'queue':
        this.holdFactor *= factor;
        break;
      case 'errors':
        this.fails = true;
        break;
      case 'timeouts': {
        const [stage] = fault.stageIndices;
        if (stage === undefined) break;
        this.timesOutMs = fault.afterMs;
        this.hangsIn = stage;
        break;
      }
      case 'cold_starts':
        this.startsCold = true;
        break;
      case 'cache_misses':
        this.missesCache = true;
        break;
      case 'big_requests':
        this.sizeFactor *= factor;
        break;
      case 'pause':
      case 'traffic':
        break;
    }
  }
}

function activate(fault: Fault, scope: FaultScope, random: Random): ActiveFault {
  const merged = { ...defaults, ...faultDefaults[fault.kind], ...fault };
  invariant(merged.stopMs < merged.everyMs, 'a pause that never ends');
  const newest = scope.model.versions.at(-1)?.name;
  const version = fault.version ?? (fault.kind === 'bad_version' ? newest : undefined);
  return {
    ...merged,
    ...(version === undefined ? {} : { version }),
    toMs: merged.fromMs + merged.forMs,
    stageIndices: stagesOf(fault, forwardStageOf(scope.model))
      .map((stage) => scope.stageNames.indexOf(stage))
      .filter((index) => index >= 0),
    random,
  };
}

function stagesOf(fault: Fault, forwardStage: string): readonly string[] {
  if (fault.kind === 'network') return networkStages;
  if (fault.kind === 'bad_version') return [forwardStage];
  const isOfForward = fault.kind === 'timeouts' || fault.kind === 'release';
  if (isOfForward) return [fault.stage ?? forwardStage];
  return fault.stage === undefined ? [] : [fault.stage];
}

function isActive(fault: ActiveFault, atMs: number): boolean {
  return atMs >= fault.fromMs && atMs < fault.toMs;
}

function factorAt(fault: ActiveFault, atMs: number): number {
  if (fault.rampMs === 0) return fault.factor;
  return 1 + (fault.factor - 1) * Math.min(1, (atMs - fault.fromMs) / fault.rampMs);
}

/** Hashes a host's name to a number in [0, 1). */
function phaseOf(host: string): number {
  let hash = 0;
  for (let i = 0; i < host.length; i++) hash = (Math.imul(hash, 31) + host.charCodeAt(i)) >>> 0;
  return (Math.imul(hash, 0x9e3779b1) >>> 0) / 4_294_967_296;
}
