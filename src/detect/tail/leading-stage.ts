import { totalStage } from '../../base/dimensions.ts';
import type { StageTable } from '../../contract/stage-table.ts';
import { concurrentMs, type DetectOptions, stageTableOf } from '../options/detect-options.ts';
import type { OpenTail } from './open-tail.ts';
import { withTotalFactor } from './shift-test.ts';
import type { ShiftVerdict } from './shift-verdict.ts';

/**
 * Returns the verdict that opens an anomaly: the total's, or else a milestone's, or else the most significant
 * stage's. The total does not lead while a stage's evidence recurs daily. Where the total is significant but too
 * small to page, a stage with an effect needs less evidence.
 */
export function leadingVerdict(
  verdicts: readonly ShiftVerdict[],
  options: Pick<DetectOptions, 'stages'> = {},
): ShiftVerdict | undefined {
  const ofStages = verdicts.filter(({ stage }) => stage !== totalStage);
  const ofTotal = verdicts.find(({ stage }) => stage === totalStage);
  const isNew = !ofStages.some(({ recurs }) => recurs);
  if (ofTotal?.opens === true && isNew) return ofTotal;
  const withTotal = ofTotal?.isClear === true && isNew;
  const opening = ofStages.filter((verdict) =>
    withTotal ? verdict.opensWithTotal : verdict.opens,
  );
  const lead = strongest(opening, stageTableOf(options));
  if (lead === undefined || lead.opens) return lead;
  return { ...lead, logAlpha: withTotalFactor * lead.logAlpha };
}

/**
 * The total's verdict from when the stage that it blames got slow: what was unusual well before that had
 * another cause, too small to page. Other verdicts stay as they are.
 */
export function sinceCause(
  lead: ShiftVerdict,
  blamed: string,
  verdicts: readonly ShiftVerdict[],
  options: DetectOptions,
): ShiftVerdict {
  const cause = verdicts.find(({ stage, anomalous }) => stage === blamed && anomalous);
  const isLater = cause && cause.startedAtMs > lead.startedAtMs + concurrentMs(options);
  return lead.stage === totalStage && isLater ? { ...lead, startedAtMs: cause.startedAtMs } : lead;
}

/** The most significant milestone, which users wait for, or else the most significant stage. */
function strongest(verdicts: readonly ShiftVerdict[], table: StageTable): ShiftVerdict | undefined {
  const ofMilestones = verdicts.filter(({ stage }) => table.isMilestone(stage));
  const leading = ofMilestones.length > 0 ? ofMilestones : verdicts;
  return leading.toSorted((a, b) => a.logP - b.logP)[0];
}

/**
 * Returns the verdict that opens a second anomaly next to open ones: the most significant stage's of those
 * that none of them explains. The total shows all causes together, so it does not lead, and neither does a
 * milestone of which a part has an open anomaly, or a measure of such a part.
 */
export function besideVerdict(
  verdicts: readonly ShiftVerdict[],
  open: readonly OpenTail[],
  options: DetectOptions,
): ShiftVerdict | undefined {
  const table = stageTableOf(options);
  const opening = verdicts.filter(({ stage, opensBeside, recurs, startedAtMs }) => {
    if (stage === totalStage || !opensBeside || recurs) return false;
    const isBefore = table.isMilestone(stage) ? table.partsBefore(stage) : undefined;
    return open.every(
      (tail) =>
        !tail.ownsAny((own) => table.isOnePart(own, stage)) &&
        !(isBefore !== undefined && tail.ownsAny(isBefore)) &&
        startedAtMs > tail.startedAtMs + concurrentMs(options),
    );
  });
  return strongest(opening, table);
}
