import { totalStage } from '../base/dimensions.ts';
import type { ShiftVerdict } from './shift-test.ts';

/**
 * The clearest of what opens; the request's total goes before any of its stages. What a stage does every day
 * at this time the total may show for once: that is not new.
 */
export function leadOf(verdicts: readonly ShiftVerdict[]): ShiftVerdict | undefined {
  const recurs = verdicts.some((verdict) => verdict.recurs && verdict.stage !== totalStage);
  const opening = verdicts.filter(
    (verdict) => verdict.opens && !(recurs && verdict.stage === totalStage),
  );
  const ofTotal = opening.filter((verdict) => verdict.stage === totalStage);
  const candidates = ofTotal.length > 0 ? ofTotal : opening;
  return candidates.reduce<ShiftVerdict | undefined>(
    (best, verdict) => (best === undefined || verdict.logP < best.logP ? verdict : best),
    undefined,
  );
}
