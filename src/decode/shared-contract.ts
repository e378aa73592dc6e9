import { type TimingEventLimits, timingEvent } from './timing-event.ts';

/** Contracts by their limits: making one costs about a millisecond, and each partition has a decoder. */
const contracts = new Map<string, ReturnType<typeof timingEvent>>();
const MAX_CONTRACTS = 16;

/** Returns the contract of these limits, the same one for the same limits. */
export function contractOf({ maxDurationMs, maxDimensionBytes }: TimingEventLimits) {
  const key = `${maxDurationMs} ${maxDimensionBytes}`;
  let contract = contracts.get(key);
  if (contract === undefined) {
    if (contracts.size >= MAX_CONTRACTS) contracts.clear();
    contract = timingEvent({ maxDurationMs, maxDimensionBytes });
    contracts.set(key, contract);
  }
  return contract;
}
