import { invariant } from '../base/invariant.ts';
import { defaultFleet } from './default-fleet.ts';
import type { Fault } from './fault.ts';
import { FaultEffects } from './fault-effects.ts';
import { HostPool } from './host-pool.ts';
import type { ModelProfile } from './model-profile.ts';
import { Random } from './random.ts';
import { RequestDraw } from './request-draw.ts';
import { RequestStream } from './request-stream.ts';
import type { TimingEventJson } from './timing-event-json.ts';

export interface TrafficOptions {
  /** The same seed and options give the same events, byte for byte. */
  readonly seed: number | string;
  /** Time of the first arrivals, milliseconds since the Unix epoch. */
  readonly startMs: number;
  /** May be infinite. */
  readonly durationMs: number;
  /** Requests a second of the whole fleet, averaged over a day. */
  readonly ratePerSecond: number;
  /** @default {defaultFleet} */
  readonly models?: readonly ModelProfile[];
  readonly faults?: readonly Fault[];
  /** Swing of the daily curve around its mean, 0 (flat) to 0.9. @default {0.4} */
  readonly dailySwing?: number;
}

/** Requests drawn for the mean of a type's hold time. */
const HOLD_SAMPLES = 1_000;

interface Sliced {
  readonly stream: number;
  readonly index: number;
  readonly offsetMs: number;
}

/**
 * Generates timing events of a fleet in order of `ts`, in event time: no clock is read. Memory holds the
 * arrivals of one slice (100 ms, or 1 s below 20 requests a second) and requests that wait on hosts. Tests
 * compare with these events as the truth: the generator has no hidden state.
 *
 * docs/explained/traffic.md describes the model and the sources of its parameters.
 */
export function* generateTraffic(options: TrafficOptions): Generator<TimingEventJson, void> {
  const { durationMs, ratePerSecond } = options;
  invariant(ratePerSecond > 0 && durationMs >= 0, 'traffic without a rate or a duration');
  const root = new Random(options.seed);
  const sliceMs = ratePerSecond >= 20 ? 100 : 1_000;
  const streams = openStreams(options, root, sliceMs);
  const idKey = root.split('ids').uint32();
  const offsetsMs: number[] = [];
  let sequence = 0;
  for (let slice = 0; slice * sliceMs < durationMs; slice++) {
    const sliced: Sliced[] = [];
    for (let stream = 0; stream < streams.length; stream++) {
      offsetsMs.length = 0;
      (streams[stream] as RequestStream).arrive(slice, offsetsMs);
      for (let index = 0; index < offsetsMs.length; index++) {
        sliced.push({ stream, index, offsetMs: offsetsMs[index] as number });
      }
    }
    sliced.sort((a, b) => a.offsetMs - b.offsetMs || a.stream - b.stream || a.index - b.index);
    for (const { stream, index, offsetMs } of sliced) {
      const atMs = slice * sliceMs + offsetMs;
      if (atMs >= durationMs) return;
      const id = requestId(sequence++, idKey);
      yield (streams[stream] as RequestStream).serve(atMs, slice, index, id);
    }
  }
}

function openStreams(options: TrafficOptions, root: Random, sliceMs: number): RequestStream[] {
  const { models = defaultFleet, faults = [], dailySwing = 0.4, startMs, ratePerSecond } = options;
  const modelShares = sumOf(models);
  return models.flatMap((model) => {
    const random = root.split(`model/${model.name}`);
    const holdMs = meanHoldMs(model, random.split('sizing'));
    const modelRate = (ratePerSecond * model.share) / modelShares;
    return model.regions.flatMap((region) => {
      const regionRate = (modelRate * region.share) / sumOf(model.regions);
      const rates = model.requestTypes.map(
        ({ share }) => (regionRate * share) / sumOf(model.requestTypes),
      );
      const busySlots = rates.map((rate, i) => (rate * (holdMs[i] as number)) / 1_000);
      const pool = new HostPool(model, region.name, busySlots, random.split('hosts'));
      return model.requestTypes.map(
        (type, i) =>
          new RequestStream({
            model,
            type,
            region,
            pool,
            holdMs: holdMs[i] as number,
            faults,
            startMs,
            ratePerSecond: rates[i] as number,
            dailySwing,
            sliceMs,
            random: random.split(`${region.name}/${type.name}`),
          }),
      );
    });
  });
}

/** Computes the mean time for which a healthy request of a model holds a slot, by request type. */
function meanHoldMs(model: ModelProfile, random: Random): number[] {
  return model.requestTypes.map((type) => {
    const draw = new RequestDraw(model, type);
    const { stageNames } = draw;
    const scope = { model, requestType: type.name, region: '', stageNames };
    const healthy = new FaultEffects([], scope, random);
    let sumMs = 0;
    for (let i = 0; i < HOLD_SAMPLES; i++) {
      draw.draw(random, healthy, 1);
      sumMs += draw.holdMs;
    }
    return sumMs / HOLD_SAMPLES;
  });
}

function sumOf(parts: readonly { readonly share: number }[]): number {
  return parts.reduce((sum, part) => sum + part.share, 0);
}

/** Unique for 2^32 requests: an odd multiplier permutes the 32-bit integers. */
function requestId(sequence: number, key: number): string {
  const scrambled = (Math.imul(sequence, 0x9e3779b1) ^ key) >>> 0;
  return `req-${scrambled.toString(16).padStart(8, '0')}`;
}
