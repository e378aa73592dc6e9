import { attributeNames } from '../series/own-attributes.ts';
import { type TimingEventLimits, timingEvent } from './timing-event.ts';

/** Contracts by their limits: making one costs about a millisecond, and each partition has a decoder. */
const contracts = new Map<string, ReturnType<typeof timingEvent>>();
const MAX_CONTRACTS = 16;

/** Returns the contract of these limits, the same one for the same limits. */
export function contractOf(bounds: TimingEventLimits) {
  const { maxDurationMs, maxDimensionBytes } = bounds;
  const key = JSON.stringify([maxDurationMs, maxDimensionBytes, attributeNames(bounds) ?? null]);
  let contract = contracts.get(key);
  if (contract === undefined) {
    if (contracts.size >= MAX_CONTRACTS) contracts.clear();
    contract = timingEvent(bounds);
    contracts.set(key, contract);
  }
  return contract;
}
