import { measureNames, totalStage } from '../../base/dimensions.ts';
import { minuteSeconds } from '../../base/time.ts';
import type { Config } from '../../config/schema.ts';
import { objectivesOf } from '../../contract/objectives/objective.ts';
import type { ClickHouseClient } from '../../sink/client/clickhouse.ts';
import { readRows } from '../../sink/client/read-query.ts';
import { boundedQuantiles } from '../../sink/windows/bounded-quantiles.ts';
import { coarsePart, windowSeconds } from '../../sink/windows/read-tails.ts';
import type { ModelRow, ModelsAnswer } from '../answers/models.ts';
import { baselineSlots } from '../baseline-slots.ts';
import { likePattern } from '../goodput/like-pattern.ts';
import { answeredRange, parametersOf, type Question } from '../question.ts';
import { unknownNames } from '../unknown-name.ts';
import { viewRows } from '../view-rows.ts';
import { windowsOf } from '../window-states.ts';
import { completeEnd, type RequestRate, requestRate } from './request-rate.ts';

export interface ModelsQuestion extends Question {
  readonly objectives: Objectives;
  /** Only models with this in their name, whatever the case; '' for all of them. */
  readonly modelContains: string;
  /** Most models of the answer: those with the most requests. */
  readonly limit: number;
  /** Length of the past that the detector takes for its baseline. */
  readonly baselineMs: number;
}

/**
 * Digests that are merged for one answer: 24 µs each, in one thread. Where more would be read, as with a
 * thousand series, quantiles come from bands. Source: `npm run bench -- dashboard`, which takes 1.3 s with 28,000.
 */
const mostDigests = 10_000;

/** Requests that were given up, the digests of `CensoredColumns`, the least and the largest duration. */
type GivenUp = readonly [
  censored: string,
  ended: string,
  censoredOnes: string,
  mixed: string,
  least: number,
  largest: number,
];

interface StoredModel {
  readonly model: string;
  readonly counted_stage: string;
  readonly requests: string;
  readonly failed: string;
  readonly p50_ms: number | null;
  readonly p95_ms: number | null;
  readonly p99_ms: number | null;
  readonly baseline_p99_ms: number | null;
  readonly ratio: number | null;
  readonly given_up: GivenUp;
  readonly past_given_up: GivenUp;
  readonly p99_steps_ms: (number | null)[];
  readonly baseline_steps_ms: (number | null)[];
  /** Place among the ordered objectives, counted from 1; 0 for none. */
  readonly objective: number;
  readonly good: number | null;
  readonly budget_left: number | null;
  readonly total_models: string;
}

/**
 * All models over a range, the busiest first, against the same parts of the day over the seven days before.
 *
 * @throws UnknownName
 */
export async function modelsView(
  client: ClickHouseClient,
  question: ModelsQuestion,
): Promise<ModelsAnswer> {
  const { range, bounds, filters, objectives, modelContains, limit } = question;
  const coarse = coarsePart(range.resolution, range.fromSeconds, range.toSeconds);
  const ordered = orderedObjectives(objectives, filters.requestType);
  const parameters = {
    ...parametersOf(question),
    ...baselineSlots(range),
    modelContains,
    stepSeconds: range.stepSeconds,
    coarseTable: coarse.table,
    coarseFromSeconds: coarse.fromSeconds,
    coarseToSeconds: coarse.toSeconds,
  };
  const [estimate] = await readRows<{ digests: string }>(client, 'digests_to_read', parameters);
  const digests = Number(estimate?.digests ?? 0) <= mostDigests;
  const { rows, sql } = await viewRows<StoredModel>(
    client,
    'view_models',
    {
      ...{ ...parameters, ...objectiveParameters(ordered) },
      ...{ digests, readsOnce: range.resolution === '1h', limit, measures: measureNames },
    },
    // Bands are whole numbers, which add up to the same in any order.
    { isRepeatable: digests },
  );
  if (rows.length === 0) await unknownNames(client, filters);
  const [rates, learnt] = await Promise.all([
    readRates(client, question, rows),
    readDetectorBaselines(client, question, { rows, digests }),
  ]);
  return {
    range: answeredRange(range, true),
    windows: windowsOf(range, bounds),
    quantiles_from: digests ? 'digests' : 'bands',
    total_models: Number(rows[0]?.total_models ?? 0),
    rows: rows.map(({ objective, good, budget_left, total_models: _, ...stored }) => {
      const { given_up, past_given_up, ...row } = stored;
      const rate = rates.get(row.model);
      const [p50, p95, p99] = bounded(
        [0.5, 0.95, 0.99],
        [row.p50_ms, row.p95_ms, row.p99_ms],
        given_up,
      );
      const [past] = bounded([0.99], [row.baseline_p99_ms], past_given_up);
      const found = {
        p50_ms: p50?.ms ?? null,
        p95_ms: p95?.ms ?? null,
        p99_ms: p99?.ms ?? null,
        baseline_p99_ms: past?.ms ?? null,
      };
      const bounds = Object.entries({ p50_ms: p50, p95_ms: p95, p99_ms: p99 });
      return {
        ...row,
        ...found,
        at_least: bounds.flatMap(([name, one]) => (one?.isAtLeast ? [name as BoundName] : [])),
        ...baselineOf({ ...row, ...found }, learnt.get(row.model) ?? null),
        requests: Number(row.requests),
        failed: Number(row.failed),
        requests_per_second: rate?.perSecond ?? 0,
        rate_steps: [...(rate?.steps ?? [])],
        objective: objectiveOf(ordered, { objective, good, budget_left }),
      };
    }),
    sql,
  };
}

type BoundName = ModelRow['at_least'][number];

/** Quantiles of one row: of all durations, but where requests were given up. */
function bounded(
  levels: readonly number[],
  allMs: readonly (number | null)[],
  [censored, ended_digest, censored_digest, mixed_digest, min_ms, max_ms]: GivenUp,
) {
  const extremes = Number(censored) === 0 ? { min_ms: null, max_ms: null } : { min_ms, max_ms };
  const digests = { ended_digest, censored_digest, mixed_digest };
  return boundedQuantiles(levels, allMs, { censored, ...digests, ...extremes });
}

type Baseline = Pick<
  ModelsAnswer['rows'][number],
  'baseline_p99_ms' | 'baseline_of' | 'ratio' | 'baseline_steps_ms'
>;

/** The week before, or where it has no request of the model, what the detector compares with. */
function baselineOf(
  row: Pick<StoredModel, 'p99_ms' | 'baseline_p99_ms' | 'baseline_steps_ms'>,
  learntMs: number | null,
): Baseline {
  const { baseline_p99_ms, baseline_steps_ms, p99_ms } = row;
  const ratioTo = (ms: number | null) => (ms === null || p99_ms === null ? null : p99_ms / ms);
  if (baseline_p99_ms !== null) {
    const ratio = ratioTo(baseline_p99_ms);
    return { baseline_p99_ms, baseline_of: 'week', ratio, baseline_steps_ms };
  }
  return {
    baseline_p99_ms: learntMs,
    baseline_of: learntMs === null ? null : 'detector',
    ratio: ratioTo(learntMs),
    baseline_steps_ms: baseline_steps_ms.map(() => learntMs),
  };
}

async function readRates(
  client: ClickHouseClient,
  question: ModelsQuestion,
  rows: readonly StoredModel[],
): Promise<ReadonlyMap<string, RequestRate>> {
  const { range, bounds } = question;
  if (rows.length === 0) return new Map();
  const windowLength = windowSeconds[range.resolution];
  const endSeconds = completeEnd(range, windowLength, bounds.completeMs);
  const counted = await readRows<{
    readonly model: string;
    readonly has_before: number;
    readonly first_seconds: number;
    readonly first_requests: string;
    readonly by_step: Readonly<Record<string, string | number>>;
  }>(client, 'view_model_requests', {
    ...parametersOf(question),
    models: rows.map(({ model }) => model),
    stages: rows.map(({ counted_stage }) => counted_stage),
    stepSeconds: range.stepSeconds,
    beforeSeconds: Math.max(0, range.fromSeconds - windowLength),
    completeSeconds: endSeconds,
  });
  return new Map(
    counted.map(({ model, has_before, first_seconds, first_requests, by_step }) => {
      const requests = {
        hasBefore: has_before === 1,
        firstSeconds: first_seconds,
        firstRequests: Number(first_requests),
        byStep: new Map(Object.entries(by_step).map(([at, n]) => [Number(at), Number(n)])),
      };
      return [model, requestRate(requests, range, { windowSeconds: windowLength, endSeconds })];
    }),
  );
}

/** p99 of the detector's baseline at the end of the range, of the models that the week before has nothing of. */
async function readDetectorBaselines(
  client: ClickHouseClient,
  question: ModelsQuestion,
  { rows, digests }: { readonly rows: readonly StoredModel[]; readonly digests: boolean },
): Promise<ReadonlyMap<string, number>> {
  const { range, bounds, baselineMs } = question;
  const models = rows
    .filter((row) => row.p99_ms !== null && row.baseline_p99_ms === null)
    .map(({ model }) => model);
  if (models.length === 0) return new Map();
  // The detector's last six windows wait in quarantine: a minute.
  const toSeconds = completeEnd(range, minuteSeconds, bounds.completeMs) - minuteSeconds;
  type Row = { model: string; p99_ms: number; given_up_digests: GivenUp };
  const found = await readRows<Row>(client, 'view_models_detector_baseline', {
    ...{ ...parametersOf(question), models, digests, toSeconds: Math.max(0, toSeconds) },
    fromSeconds: Math.max(0, toSeconds - Math.round(baselineMs / 1000)),
  });
  return new Map(
    found.map(({ model, p99_ms, given_up_digests }) => {
      const [p99] = bounded([0.99], [p99_ms], given_up_digests);
      return [model, p99?.ms ?? p99_ms];
    }),
  );
}

type Objectives = Config['detect']['slos'];

/** An objective for whole requests of models, maybe of one type: bands of totals tell of it. */
interface OfTotals {
  readonly name: string;
  readonly objective: number;
  readonly thresholdMs: number;
  readonly model: string;
}

/** Counts of a query for the objective of a model. */
interface Counted {
  /** Place of the objective among the ordered ones, counted from 1; 0 for none. */
  readonly objective: number;
  readonly good: number | null;
  readonly budget_left: number | null;
}

/**
 * Objectives in the order in which one is chosen for a model: the strictest first, of the least threshold,
 * then of the largest part that must be good. One of a request type counts where only requests of that type
 * are asked for. Those of a stage, of other dimensions, and joint ones are left out.
 */
function orderedObjectives(objectives: Objectives, requestType: string): OfTotals[] {
  return objectivesOf(objectives)
    .flatMap(({ name, objective, thresholds, isJoint, match }) => {
      const { model = '*', request_type = requestType, ...others } = match;
      const thresholdMs = thresholds[totalStage];
      const isOther = isJoint || Object.keys(others).length > 0 || request_type !== requestType;
      return isOther || thresholdMs === undefined ? [] : [{ name, objective, thresholdMs, model }];
    })
    .toSorted((a, b) => a.thresholdMs - b.thresholdMs || b.objective - a.objective);
}

/** Parameters of sql/queries/view_models.sql. */
function objectiveParameters(ordered: readonly OfTotals[]) {
  return {
    objectiveModels: ordered.map(({ model }) => likePattern(model)),
    objectiveThresholds: ordered.map(({ thresholdMs }) => thresholdMs),
    objectiveShares: ordered.map(({ objective }) => objective),
  };
}

/** The objective of a model, with what was counted. */
function objectiveOf(
  ordered: readonly OfTotals[],
  { objective: at, good, budget_left }: Counted,
): ModelRow['objective'] {
  const chosen = ordered[at - 1];
  if (chosen === undefined) return null;
  const { thresholdMs, objective, name } = chosen;
  return { name, objective, threshold_ms: thresholdMs, good, budget_left };
}
