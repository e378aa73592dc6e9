import { totalStage } from '../../base/dimensions.ts';
import { partBeside } from './shift-test.ts';
import type { ShiftVerdict } from './shift-verdict.ts';

/**
 * The clearest of what opens; the request's total goes before any of its stages. What a stage does every day
 * at this time the total may show for once: that is not new. Where the total is slower beyond doubt, but by
 * too little to matter, a stage that is slower by enough needs less.
 */
export function leadOf(verdicts: readonly ShiftVerdict[]): ShiftVerdict | undefined {
  const ofStages = verdicts.filter(({ stage }) => stage !== totalStage);
  const ofTotal = verdicts.find(({ stage }) => stage === totalStage);
  const isNew = !ofStages.some(({ recurs }) => recurs);
  if (ofTotal?.opens === true && isNew) return ofTotal;
  const isBorneOut = ofTotal?.isClear === true && isNew;
  const opening = ofStages.filter((verdict) => (isBorneOut ? verdict.opensBeside : verdict.opens));
  const [first, ...others] = opening;
  if (first === undefined) return undefined;
  const lead = others.reduce((best, each) => (each.logP < best.logP ? each : best), first);
  return lead.opens ? lead : { ...lead, logLevel: partBeside * lead.logLevel };
}
