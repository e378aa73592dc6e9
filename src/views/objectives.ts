import { matchesPattern } from '../alert/routing/matches.ts';
import type { Config } from '../config/schema.ts';
import type { ModelRow } from './answers/models.ts';
import { bandFromMs } from './density.ts';

export type Objectives = Config['detect']['slos'];

/** Requests of a model over a range. */
interface Requests {
  readonly model: string;
  readonly requestType: string;
  readonly requests: number;
  readonly failed: number;
  /** Band of the total -> requests. */
  readonly bands: Readonly<Record<string, number>>;
}

/**
 * The strictest objective of a model: of the least threshold, then of the largest part that must be good. One of a
 * request type counts where only requests of that type are asked for.
 *
 * Requests above a threshold within a band are taken for evenly spread over it. One that failed and is slow
 * counts as bad twice at most, so that `good` is never too high.
 */
export function strictestObjective(
  objectives: Objectives,
  { model, requestType, requests, failed, bands }: Requests,
): ModelRow['objective'] {
  const [strictest] = objectives
    .filter(
      (one) =>
        (one.request_type === undefined || one.request_type === requestType) &&
        matchesPattern(one.model, model),
    )
    .toSorted((a, b) => a.threshold - b.threshold || b.objective - a.objective);
  if (strictest === undefined) return null;
  const { threshold, objective, name } = strictest;
  const bad = Math.min(requests, slowerThan(bands, threshold) + failed);
  const badShare = requests === 0 ? null : bad / requests;
  return {
    name: name ?? `${objective * 100} % of requests within ${threshold} ms`,
    objective,
    threshold_ms: threshold,
    good: badShare === null ? null : 1 - badShare,
    budget_left: badShare === null ? null : 1 - badShare / (1 - objective),
  };
}

function slowerThan(bands: Requests['bands'], thresholdMs: number): number {
  let slower = 0;
  for (const [key, amount] of Object.entries(bands)) {
    const from = bandFromMs(Number(key));
    const to = bandFromMs(Number(key) + 1);
    slower += amount * Math.min(1, Math.max(0, (to - thresholdMs) / (to - from)));
  }
  return slower;
}
