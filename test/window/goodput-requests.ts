import type { Match, Thresholds } from '../../src/config/slos.ts';
import type { SeededRandom } from '../base/seeded-random.ts';

/** A timing event of a language model, as a producer writes it. */
export interface GoodputRequest {
  readonly ts: number;
  readonly model: string;
  readonly region?: string;
  readonly tenant?: string;
  readonly cold_start?: boolean;
  readonly status?: string;
  readonly partial?: boolean;
  readonly weight?: number;
  readonly total_ms?: number;
  readonly stages_ms?: Readonly<Record<string, number>>;
  readonly milestones_ms?: Readonly<Record<string, number>>;
  readonly output_tokens?: number;
}

/** Requests of which some lack a part, fail, stand for several, or take exactly as long as a threshold. */
export function goodputRequests(
  random: SeededRandom,
  count: number,
  { fromMs, stepMs }: { readonly fromMs: number; readonly stepMs: number },
): GoodputRequest[] {
  return Array.from({ length: count }, (_, i) => {
    const queue = random.pick([5, 40, 200, random.between(0, 300)]);
    const first_token = queue + random.pick([100, 300, random.between(1, 600)]);
    const output_tokens = random.pick([1, 2, 3, 100, random.between(1, 400)]);
    const perToken = random.pick([10, 50, 60, 49.999, 50.001]);
    const total = first_token + (output_tokens - 1) * perToken;
    const partial = random.chance(0.1);
    const stages_ms = { queue, ...(random.chance(0.3) && { detokenize: 1 }) };
    return {
      ts: Math.floor(fromMs + i * stepMs - total),
      model: random.pick(['chat', 'code', 'embed']),
      stages_ms: partial && random.chance(0.3) ? { parse: 1 } : stages_ms,
      ...(random.chance(0.8) && { region: random.pick(['eu-1', 'eu-2', 'us-1']) }),
      ...(random.chance(0.5) && { tenant: random.pick(['a', 'b']) }),
      ...(random.chance(0.1) && { cold_start: true }),
      ...(random.chance(0.2) && {
        status: random.pick(['error', 'timeout', 'cancelled', 'ok']),
      }),
      ...(random.chance(0.2) && { weight: random.pick([1, 2, 40, 700]) }),
      ...(random.chance(0.8) && { output_tokens }),
      ...(random.chance(0.8) && !partial && { milestones_ms: { first_token } }),
      ...(partial ? { partial } : { total_ms: total }),
    };
  });
}

/** Milliseconds of a request that thresholds may be of, by the contract of events and measures. */
function partsOf(request: GoodputRequest): Readonly<Record<string, number>> {
  const { stages_ms = {}, milestones_ms = {}, total_ms, output_tokens = 0 } = request;
  const { first_token } = milestones_ms;
  const all: Record<string, number> = { ...stages_ms, ...milestones_ms };
  if (total_ms !== undefined) all.total = total_ms;
  if (total_ms !== undefined && first_token !== undefined && output_tokens >= 2) {
    all.time_per_output_token = (total_ms - first_token) / (output_tokens - 1);
  }
  return all;
}

function matches(match: Match, request: GoodputRequest): boolean {
  return Object.entries(match).every(([dimension, pattern]) => {
    const given = (request as unknown as Readonly<Record<string, unknown>>)[dimension];
    const value = dimension === 'cold_start' ? String(given ?? false) : String(given ?? '');
    return new RegExp(`^${(pattern ?? '*').replaceAll('*', '.*')}$`).test(value);
  });
}

/** Counts requests and those that missed, one by one: what a joint objective promises. */
export function countedOf(
  requests: readonly GoodputRequest[],
  thresholds: Thresholds,
  match: readonly Match[],
): { readonly requests: number; readonly missed: number } {
  const counted = { requests: 0, missed: 0 };
  for (const request of requests) {
    if (!match.some((each) => matches(each, request))) continue;
    const parts = partsOf(request);
    const known = Object.keys(thresholds).filter((stage) => parts[stage] !== undefined);
    const isFailed = request.status === 'error' || request.status === 'timeout';
    if (known.length === 0 && !isFailed) continue;
    const isMissed = known.some((stage) => (parts[stage] ?? 0) > (thresholds[stage] ?? 0));
    counted.requests += request.weight ?? 1;
    if (isFailed || isMissed) counted.missed += request.weight ?? 1;
  }
  return counted;
}
