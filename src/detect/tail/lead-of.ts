import { totalStage } from '../../base/dimensions.ts';
import { withTotalFactor } from './shift-test.ts';
import type { ShiftVerdict } from './shift-verdict.ts';

/**
 * Returns the verdict that opens an anomaly: the total's, or else the most significant stage's. The total
 * does not lead while a stage's evidence recurs daily. Where the total is significant but too small to page,
 * a stage with an effect needs less evidence.
 */
export function leadOf(verdicts: readonly ShiftVerdict[]): ShiftVerdict | undefined {
  const ofStages = verdicts.filter(({ stage }) => stage !== totalStage);
  const ofTotal = verdicts.find(({ stage }) => stage === totalStage);
  const isNew = !ofStages.some(({ recurs }) => recurs);
  if (ofTotal?.opens === true && isNew) return ofTotal;
  const withTotal = ofTotal?.isClear === true && isNew;
  const opening = ofStages.filter((verdict) =>
    withTotal ? verdict.opensWithTotal : verdict.opens,
  );
  const [first, ...others] = opening;
  if (first === undefined) return undefined;
  const lead = others.reduce((best, each) => (each.logP < best.logP ? each : best), first);
  return lead.opens ? lead : { ...lead, logLevel: withTotalFactor * lead.logLevel };
}
