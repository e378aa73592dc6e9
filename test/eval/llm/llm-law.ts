import { dayMs, hourMs, minuteMs } from '../../../src/base/time.ts';
import { Random } from '../../../src/generate/random.ts';

/** What changes in some requests of a fault: the time of a part, or how many tokens go in or out. */
export const llmFaultKinds = [
  'queue',
  'prefill',
  'decode',
  'longer answers',
  'longer prompts',
] as const;
export type LlmFaultKind = (typeof llmFaultKinds)[number];

export interface LlmFault {
  readonly kind: LlmFaultKind;
  /** Milliseconds after the start of the traffic. */
  readonly fromMs: number;
  readonly toMs: number;
  readonly factor: number;
  readonly share: number;
}

/** Parts of a request in milliseconds, and its tokens. */
export interface LlmRequest {
  readonly queueMs: number;
  readonly prefillMs: number;
  readonly decodeMs: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** Ranges of what servers of vLLM publish and of chat traffic; each seed draws its own. */
const drawn = {
  inputMedian: [400, 1_200],
  inputSigma: [0.6, 1],
  outputMedian: [100, 300],
  outputSigma: [0.5, 0.9],
  queueMs: [40, 120],
  queueSigma: [0.5, 0.8],
  prefillMsPerToken: [0.1, 0.3],
  decodeMsPerToken: [15, 40],
  decodeSigma: [0.1, 0.25],
} as const;
const mostTokens = { input: 32_000, output: 2_000 } as const;
const prefillFixedMs = 25;
const prefillSigma = 0.15;
/** Deviations of the logarithm of mean lengths: what wanders by the hour, by the day, and with the time of day. */
const wander = { hourly: 0.1, daily: 0.08, diurnal: 0.15 } as const;
/** Deviation of the logarithm of the time per token, which batches make, of ten minutes. */
const batchWander = 0.04;
const trafficSwing = 0.3;

/** Traffic of one LLM server: its lengths wander by hour and day. The same seed gives the same requests. */
export class LlmLaw {
  readonly #random: Random;
  readonly #of: Readonly<Record<keyof typeof drawn, number>>;
  readonly #phase: number;
  readonly #ratePerSecond: number;

  constructor(seed: number, ratePerSecond: number) {
    this.#random = new Random(`llm ${seed}`);
    const one = this.#random.split('law');
    const values = Object.entries(drawn).map(([name, [least, most]]) => [
      name,
      least * (most / least) ** one.uniform(),
    ]);
    this.#of = Object.fromEntries(values) as Record<keyof typeof drawn, number>;
    this.#phase = one.uniform();
    this.#ratePerSecond = ratePerSecond;
  }

  /** Requests that begin within a second, with the milliseconds after it at which each does. */
  *second(atMs: number, faults: readonly LlmFault[]): Generator<LlmRequest & { afterMs: number }> {
    const random = this.#random.split('requests');
    random.seek(Math.floor(atMs / 1_000), 0);
    const swing = 1 + trafficSwing * this.#sine(atMs, 0);
    const count = random.poisson(this.#ratePerSecond * swing);
    const fault = faults.find(({ fromMs, toMs }) => atMs >= fromMs && atMs < toMs);
    for (let n = 0; n < count; n++) {
      yield { ...this.request(atMs, fault, random), afterMs: 1_000 * random.uniform() };
    }
  }

  request(atMs: number, fault: LlmFault | undefined, random: Random): LlmRequest {
    const of = this.#of;
    const hit = fault !== undefined && random.chance(fault.share) ? fault.kind : undefined;
    const times = (kind: LlmFaultKind) => (hit === kind ? (fault?.factor ?? 1) : 1);
    const inputs =
      random.lognormal(of.inputMedian, of.inputSigma) * Math.exp(this.#lengths('input', atMs));
    const outputs =
      random.lognormal(of.outputMedian, of.outputSigma) * Math.exp(this.#lengths('output', atMs));
    const inputTokens = tokens(inputs * times('longer prompts'), mostTokens.input);
    const outputTokens = tokens(outputs * times('longer answers'), mostTokens.output);
    const perToken =
      random.lognormal(of.decodeMsPerToken, of.decodeSigma) *
      Math.exp(this.#wandering('batch', atMs, 10 * minuteMs, batchWander));
    const prefill = prefillFixedMs + of.prefillMsPerToken * inputTokens;
    return {
      ...{ inputTokens, outputTokens },
      queueMs: random.lognormal(of.queueMs, of.queueSigma) * times('queue'),
      prefillMs: random.lognormal(prefill, prefillSigma) * times('prefill'),
      decodeMs: perToken * (outputTokens - 1) * times('decode'),
    };
  }

  #lengths(name: string, atMs: number): number {
    return (
      this.#wandering(`${name} by hour`, atMs, hourMs, wander.hourly) +
      this.#wandering(`${name} by day`, atMs, dayMs, wander.daily) +
      wander.diurnal * this.#sine(atMs, name === 'input' ? 0.2 : 0.5)
    );
  }

  /** Between a normal draw of this span and of the next one, so that it has no steps. */
  #wandering(name: string, atMs: number, spanMs: number, deviation: number): number {
    const span = Math.floor(atMs / spanMs);
    const part = atMs / spanMs - span;
    const [here, next] = [span, span + 1].map((n) => this.#draw(name, n)) as [number, number];
    return deviation * (here * (1 - part) + next * part);
  }

  readonly #drawn = new Map<string, number>();

  #draw(name: string, n: number): number {
    const key = `${name} ${n}`;
    const known = this.#drawn.get(key);
    if (known !== undefined) return known;
    const random = this.#random.split(name);
    random.seek(n, 0);
    const value = random.normal();
    this.#drawn.set(key, value);
    return value;
  }

  #sine(atMs: number, shift: number): number {
    return Math.sin(2 * Math.PI * (atMs / dayMs + this.#phase + shift));
  }
}

function tokens(wanted: number, most: number): number {
  return Math.round(Math.min(most, Math.max(2, wanted)));
}
