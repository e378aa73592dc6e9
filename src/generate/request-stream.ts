import type { Status } from '../base/statuses.ts';
import { ArrivalProcess } from './arrival-process.ts';
import type { Fault } from './fault.ts';
import { FaultEffects } from './fault-effects.ts';
import type { Host, HostPool } from './host-pool.ts';
import type { Admission } from './host-queue.ts';
import type { ModelProfile, RegionProfile, RequestTypeProfile } from './model-profile.ts';
import type { Random } from './random.ts';
import { RequestDraw } from './request-draw.ts';
import type { TimingEventJson } from './timing-event-json.ts';

export interface RequestStreamOptions {
  readonly model: ModelProfile;
  readonly type: RequestTypeProfile;
  readonly region: RegionProfile;
  readonly pool: HostPool;
  /** Mean time for which a healthy request holds a slot. */
  readonly holdMs: number;
  readonly faults: readonly Fault[];
  readonly startMs: number;
  readonly ratePerSecond: number;
  readonly dailySwing: number;
  readonly sliceMs: number;
  readonly random: Random;
}

/** Requests of one type to one model in one region: their arrivals and their events. */
export class RequestStream {
  readonly #options: RequestStreamOptions;
  readonly #arrivals: ArrivalProcess;
  readonly #random: Random;
  readonly #effects: FaultEffects;
  readonly #draw: RequestDraw;
  readonly #admission: Admission = { waitMs: 0, concurrency: 0, queueDepth: 0 };
  readonly #micros: Float64Array;

  constructor(options: RequestStreamOptions) {
    const { model, type, region, faults, ratePerSecond, dailySwing, sliceMs, random } = options;
    this.#options = options;
    this.#random = random.split('requests');
    this.#draw = new RequestDraw(model, type);
    this.#micros = new Float64Array(this.#draw.stageNames.length);
    this.#arrivals = new ArrivalProcess({
      profile: type.arrivals,
      ratePerSecond,
      dailySwing,
      peakHour: region.peakHour,
      sliceMs,
      random: random.split('arrivals'),
    });
    const scope = {
      model,
      requestType: type.name,
      region: region.name,
      stageNames: this.#draw.stageNames,
    };
    this.#effects = new FaultEffects(faults, scope, random);
  }

  /** Appends the slice's arrivals, in milliseconds from the slice's beginning; returns their count. */
  arrive(slice: number, offsetsMs: number[]): number {
    const { model, type, pool, holdMs, startMs, sliceMs } = this.#options;
    const atMs = slice * sliceMs;
    const factor = this.#effects.rateFactor(atMs);
    const count = this.#arrivals.next(slice, startMs + atMs, factor, offsetsMs);
    const busySlots = (this.#arrivals.ratePerSecond * holdMs) / 1_000;
    pool.expect(model.requestTypes.indexOf(type), busySlots, atMs);
    return count;
  }

  /**
   * Serves the request (slice, index) that arrives `atMs` after the start. Requests of all streams of a pool
   * are served in the order in which they arrive.
   */
  serve(atMs: number, slice: number, index: number, id: string): TimingEventJson {
    const { model, pool } = this.#options;
    const random = this.#random;
    const draw = this.#draw;
    random.seek(slice, index);
    const host = pool.hosts[Math.floor(random.uniform() * pool.hosts.length)] as Host;
    const before = this.#pickVersion();
    this.#effects.evaluate(atMs, slice, index, before, host.name);
    const version = this.#effects.version ?? before;
    draw.draw(random, this.#effects, host.slowness);
    const admission = this.#admission;
    host.queue.peek(atMs, admission);
    const { stageMs, queueStage, forwardStage } = draw;
    // A request that would wait beyond the deadline leaves unserved and occupies no slot.
    if (admission.waitMs < model.deadlineMs) {
      host.queue.occupy(atMs, Math.min(draw.holdMs, model.deadlineMs));
    }
    stageMs[queueStage] = (stageMs[queueStage] as number) + admission.waitMs;
    const { timesOutMs, hangsIn } = this.#effects;
    if (timesOutMs > 0) stageMs[hangsIn] = (stageMs[hangsIn] as number) + timesOutMs;
    else if (draw.hangs)
      stageMs[forwardStage] = (stageMs[forwardStage] as number) + model.deadlineMs;
    const endMs = atMs + stageMs.reduce((sum, ms) => sum + ms, 0);
    const pausedMs = this.#effects.pausedMs(host.name, atMs, endMs);
    stageMs[forwardStage] = (stageMs[forwardStage] as number) + pausedMs;
    const status = this.#statusOf(timesOutMs);
    return this.#event(atMs, id, version, host.name, status);
  }

  #pickVersion(): string {
    const { versions } = this.#options.model;
    let rest = this.#random.uniform();
    for (const { name, share } of versions) {
      rest -= share;
      if (rest < 0) return name;
    }
    return versions[versions.length - 1]?.name as string;
  }

  /** Rounds the stages to microseconds, and ends them early where the request ended early. */
  #statusOf(timesOutMs: number): Status {
    const { stageMs, forwardStage, stageNames, failsAt } = this.#draw;
    const micros = this.#micros;
    const isTimeout = timesOutMs > 0;
    let leftMicros = (isTimeout ? timesOutMs : this.#options.model.deadlineMs) * 1_000;
    let status: Status = this.#draw.fails && !isTimeout ? 'error' : 'ok';
    for (let i = 0; i < micros.length; i++) {
      let ms = stageMs[i] as number;
      if (status === 'error' && i === forwardStage) ms *= failsAt;
      // A failed request gets a response too; other stages after the failure are skipped.
      const skipped = status === 'error' && i > forwardStage && stageNames[i] !== 'egress';
      let value = skipped ? 0 : Math.round(ms * 1_000);
      if (value > leftMicros) {
        value = leftMicros;
        status = 'timeout';
      }
      micros[i] = value;
      leftMicros -= value;
    }
    return status;
  }

  #event(atMs: number, id: string, version: string, host: string, status: Status): TimingEventJson {
    const { model, type, region, startMs } = this.#options;
    const draw = this.#draw;
    const stages: Record<string, number> = {};
    let totalMicros = 0;
    for (let i = 0; i < this.#micros.length; i++) {
      const micros = this.#micros[i] as number;
      if (micros === 0) continue;
      totalMicros += micros;
      stages[draw.stageNames[i] as string] = micros / 1_000;
    }
    return {
      ts: Math.floor(startMs + atMs),
      model: model.name,
      version,
      request_type: type.name,
      region: region.name,
      service: model.service,
      host,
      id,
      trace_id: draw.traceId,
      status,
      cold_start: draw.coldStart,
      ...(model.cacheHitShare === undefined ? noFields : { cache_hit: draw.cacheHit }),
      batch_size: draw.items,
      request_bytes: draw.requestBytes,
      response_bytes: status === 'ok' ? draw.responseBytes : 96,
      ...(type.inputTokens === undefined ? noFields : { input_tokens: draw.inputTokens }),
      ...(type.outputTokens === undefined ? noFields : { output_tokens: draw.outputTokens }),
      concurrency: this.#admission.concurrency,
      queue_depth: this.#admission.queueDepth,
      total_ms: totalMicros / 1_000,
      stages_ms: stages,
    };
  }
}

const noFields = {} as const;
