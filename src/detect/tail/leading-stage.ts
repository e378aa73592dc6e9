import { totalStage } from '../../base/dimensions.ts';
import { concurrentMs, type DetectOptions } from '../options/detect-options.ts';
import type { OpenTail } from './open-tail.ts';
import { withTotalFactor } from './shift-test.ts';
import type { ShiftVerdict } from './shift-verdict.ts';

/**
 * Returns the verdict that opens an anomaly: the total's, or else the most significant stage's. The total
 * does not lead while a stage's evidence recurs daily. Where the total is significant but too small to page,
 * a stage with an effect needs less evidence.
 */
export function leadingVerdict(verdicts: readonly ShiftVerdict[]): ShiftVerdict | undefined {
  const ofStages = verdicts.filter(({ stage }) => stage !== totalStage);
  const ofTotal = verdicts.find(({ stage }) => stage === totalStage);
  const isNew = !ofStages.some(({ recurs }) => recurs);
  if (ofTotal?.opens === true && isNew) return ofTotal;
  const withTotal = ofTotal?.isClear === true && isNew;
  const opening = ofStages.filter((verdict) =>
    withTotal ? verdict.opensWithTotal : verdict.opens,
  );
  const [lead] = opening.toSorted((a, b) => a.logP - b.logP);
  if (lead === undefined || lead.opens) return lead;
  return { ...lead, logAlpha: withTotalFactor * lead.logAlpha };
}

/**
 * Returns the verdict that opens a second anomaly next to open ones: the most significant stage's of those
 * that none of them explains. The total shows all causes together, so it does not lead.
 */
export function besideVerdict(
  verdicts: readonly ShiftVerdict[],
  open: readonly OpenTail[],
  options: DetectOptions,
): ShiftVerdict | undefined {
  const opening = verdicts.filter(({ stage, opensBeside, recurs, startedAtMs }) => {
    if (stage === totalStage || !opensBeside || recurs) return false;
    return open.every(
      (tail) => !tail.owns(stage) && startedAtMs > tail.startedAtMs + concurrentMs(options),
    );
  });
  return opening.toSorted((a, b) => a.logP - b.logP)[0];
}
