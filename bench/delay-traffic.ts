import { Random } from '../src/generate/random.ts';

/** A request as it happened. */
export interface TimedRequest {
  readonly startMs: number;
  readonly stagesMs: Readonly<Record<string, number>>;
  readonly status: 'ok' | 'timeout';
  /** Whether the fault has hit it. */
  readonly isHit: boolean;
}

/** What goes wrong with some of the requests. */
export interface DelayFault {
  readonly name: string;
  /** Part of the requests that it hits. */
  readonly share: number;
  hit(request: TimedRequest): TimedRequest;
}

/** Median in milliseconds, and the deviation of the logarithm. */
const stages = {
  queue: [4, 0.5],
  features: [15, 0.4],
  forward: [50, 0.35],
  postprocess: [3, 0.3],
} as const;
const normal95 = 1.645;
/** Of the topic that its events go to, in turn. */
export const delayPartitions = 2;
const timeoutMs = 30_000;

/** A stage takes so many times as long. */
const slower =
  (stage: keyof typeof stages, factor: number) =>
  (request: TimedRequest): TimedRequest => {
    const ms = (request.stagesMs[stage] ?? 0) * factor;
    return { ...request, stagesMs: { ...request.stagesMs, [stage]: ms }, isHit: true };
  };

export const delayFaults: readonly DelayFault[] = [
  { name: 'outage: all requests, forward ×10', share: 1, hit: slower('forward', 10) },
  {
    name: 'p95 of forward ×3, by a tenth of the requests',
    share: 0.1,
    // Half of those that are hit are then beyond three times the p95: with the share of a tenth that is the p95.
    hit: slower('forward', 3 * Math.exp(normal95 * stages.forward[1])),
  },
  {
    name: 'time-outs: a fifth of the requests end after 30 s',
    share: 0.2,
    hit: (request) => ({
      ...request,
      stagesMs: { ...request.stagesMs, forward: timeoutMs },
      status: 'timeout',
      isHit: true,
    }),
  },
];

/** When its event is published, at the earliest. */
export function endMsOf({ startMs, stagesMs }: TimedRequest): number {
  return startMs + Object.values(stagesMs).reduce((sum, ms) => sum + ms, 0);
}

/** A timing event of one model, without a total: that is the sum of its stages. */
export function eventOf({ startMs, stagesMs, status }: TimedRequest): string {
  return JSON.stringify({
    ...{ ts: Math.floor(startMs), model: 'ranker', version: 'v1', region: 'eu-west-1', status },
    stages_ms: Object.fromEntries(
      Object.entries(stagesMs).map(([stage, ms]) => [stage, Number(ms.toFixed(3))]),
    ),
  });
}

/** Requests of one model that arrive at random, seeded: they are drawn as time goes on. */
export class DelayTraffic {
  readonly #random: Random;
  readonly #meanGapMs: number;
  #nextMs: number;
  #fault: DelayFault | undefined;
  #faultFromMs = Number.POSITIVE_INFINITY;

  constructor(seed: string, perSecond: number, fromMs: number) {
    this.#random = new Random(seed);
    this.#meanGapMs = 1_000 / perSecond;
    this.#nextMs = fromMs + this.#random.exponential(this.#meanGapMs);
  }

  /** Requests that start from then on are hit. */
  strike(fault: DelayFault, fromMs: number): void {
    this.#fault = fault;
    this.#faultFromMs = fromMs;
  }

  /** The requests that start before that time and after those before. */
  *until(ms: number): Generator<TimedRequest, void> {
    while (this.#nextMs < ms) {
      yield this.#draw(this.#nextMs);
      this.#nextMs += this.#random.exponential(this.#meanGapMs);
    }
  }

  #draw(startMs: number): TimedRequest {
    const stagesMs = Object.fromEntries(
      Object.entries(stages).map(([stage, [median, sigma]]) => [
        stage,
        this.#random.lognormal(median, sigma),
      ]),
    );
    const request: TimedRequest = { startMs, stagesMs, status: 'ok', isHit: false };
    // Drawn for each, so that the fault changes nothing but what it hits.
    const place = this.#random.uniform();
    const fault = startMs >= this.#faultFromMs ? this.#fault : undefined;
    return fault !== undefined && place < fault.share ? fault.hit(request) : request;
  }
}
