import type { RateReference } from './rate-baseline.ts';
import type { StateArchive } from './state-archive.ts';

const nothing: RateReference = { rate: 0, requests: 0, windows: 0, fromMs: 0, toMs: 0 };

export function carryRateReference(
  state: StateArchive,
  reference: RateReference = nothing,
): RateReference {
  return {
    rate: state.number(reference.rate),
    requests: state.number(reference.requests),
    windows: state.number(reference.windows),
    fromMs: state.number(reference.fromMs),
    toMs: state.number(reference.toMs),
  };
}
