import { totalStage } from '../base/dimensions.ts';
import { daySeconds, hourSeconds } from '../base/time.ts';
import type { StageTable } from '../contract/stage-table.ts';
import type { ClickHouseClient } from '../sink/client/clickhouse.ts';
import { readSeenValues } from '../sink/read-seen-values.ts';
import { coarsePart } from '../sink/windows/read-tails.ts';
import type { CompositionAnswer, KnownStage, SliceRow } from './answers/composition.ts';
import { answeredRange, isoTime, parametersOf, partParameters, type Question } from './question.ts';
import { unknownNames } from './unknown-name.ts';
import { viewRows } from './view-rows.ts';
import { windowsOf } from './window-states.ts';

export interface CompositionQuestion extends Question {
  /** Milestones by it are no parts. */
  readonly stages: StageTable;
  /**
   * A milestone is made of the parts before it, in all requests: times are stored by the bands of the total,
   * so those slowest in it are not known. Any other stage means the total.
   */
  readonly stage: string;
  /** Names of own dimensions that are configured, without their prefix. */
  readonly ownDimensions?: readonly string[] | undefined;
  /** The slowest slice of each step; otherwise all slices of the range as one. */
  readonly isStepped: boolean;
}

/** Quantiles next to which slices are cut; over time the one that cuts off the slowest. */
const cuts = { range: [0.5, 0.9, 0.95, 0.99, 0.999], step: [0.99] } as const;

const baselineDays = 7;

interface Part {
  /** Of a tuple of ClickHouse, by position. */
  readonly 0: string;
  readonly 1: number;
}

interface Row {
  readonly at_seconds: string | number;
  readonly from_share: number;
  readonly to_share: number;
  readonly above_ms: number | null;
  readonly below_ms: number | null;
  readonly requests: string | number;
  readonly mean_ms: number;
  readonly parts: readonly Part[];
  readonly baseline_mean_ms: number | null;
  readonly baseline_parts: readonly Part[];
}

/**
 * Time that requests of each slowness spent in each stage, and in the same hours of the last seven days.
 *
 * @throws UnknownName
 */
export async function compositionView(
  client: ClickHouseClient,
  question: CompositionQuestion,
): Promise<CompositionAnswer> {
  const { range, bounds, filters, isStepped } = question;
  const known = await knownStages(client, question);
  const isMilestone = question.stages.isMilestone(question.stage);
  const { fromSeconds, toSeconds, stepSeconds, resolution } = range;
  // Steps are read from one table.
  const coarse = coarsePart(resolution, fromSeconds, isStepped ? fromSeconds : toSeconds);
  const { rows, sql } = await viewRows<Row>(client, 'view_composition', {
    ...parametersOf(question),
    ...baselineHours(question),
    stepSeconds: isStepped ? stepSeconds : 0,
    cuts: isMilestone ? [] : isStepped ? cuts.step : cuts.range,
    ...partParameters(question.stages),
    whole: isMilestone ? question.stage : totalStage,
    only: isMilestone ? partsBefore(question, known) : [],
    coarseTable: coarse.table,
    coarseFromSeconds: coarse.fromSeconds,
    coarseToSeconds: coarse.toSeconds,
  });
  const unknown = rows.length === 0 ? await unknownNames(client, filters) : {};
  const whole = { ...range, stepSeconds: toSeconds - fromSeconds };
  return {
    range: answeredRange(range, isStepped),
    windows: windowsOf(isStepped ? range : whole, bounds),
    rows: rows.map((row) => sliceOf(row, isStepped)),
    stages: known,
    own_dimensions: [...(question.ownDimensions ?? [])],
    sql,
    ...unknown,
  };
}

/** Stages of the model with their kinds, but what only counts: objectives, and sizes. */
async function knownStages(
  client: ClickHouseClient,
  { stages, filters: { model } }: CompositionQuestion,
): Promise<KnownStage[]> {
  const names = await readSeenValues(client, { dimension: 'stage', model, fromMs: undefined });
  return names.toSorted().flatMap((stage) => {
    const kind = stages.kindOf(stage);
    const isStage = stage !== totalStage && kind !== 'objective' && kind !== 'size';
    return isStage ? [{ stage, kind }] : [];
  });
}

/** Parts before the milestone; a name that is none where there are none. */
function partsBefore(
  { stage, stages }: CompositionQuestion,
  known: readonly KnownStage[],
): readonly string[] {
  const isBefore = stages.partsBefore(stage);
  const before = known.map((one) => one.stage).filter((name) => isBefore?.(name) === true);
  return before.length > 0 ? before : [''];
}

/** The hours of the range, before which the baseline ends. Steps have none. */
function baselineHours({ range, isStepped }: CompositionQuestion) {
  const from = Math.floor(range.fromSeconds / hourSeconds) * hourSeconds;
  const to = Math.ceil(range.toSeconds / hourSeconds) * hourSeconds;
  return {
    baselineFromSeconds: Math.max(0, from - baselineDays * daySeconds),
    baselineToSeconds: from,
    baselineSpanSeconds: isStepped ? 0 : to - from,
  };
}

function sliceOf(row: Row, hasSteps: boolean): SliceRow {
  const parts = (of: readonly Part[]) => of.map((part) => ({ stage: part[0], mean_ms: part[1] }));
  const { baseline_mean_ms } = row;
  return {
    at: hasSteps ? isoTime(Number(row.at_seconds)) : null,
    from_share: row.from_share,
    to_share: row.to_share,
    above_ms: row.above_ms,
    below_ms: row.below_ms,
    requests: Number(row.requests),
    mean_ms: row.mean_ms,
    parts: parts(row.parts),
    baseline:
      baseline_mean_ms === null
        ? null
        : { mean_ms: baseline_mean_ms, parts: parts(row.baseline_parts) },
  };
}
