import type { ClickHouseClient } from '../sink/clickhouse.ts';
import { readRows } from '../sink/read-query.ts';
import { coarsePart } from '../sink/read-tails.ts';
import type { ModelsAnswer } from './answers/models.ts';
import { baselineSlots } from './baseline-slots.ts';
import {
  type Objectives,
  objectiveOf,
  objectiveParameters,
  orderedObjectives,
} from './objectives.ts';
import { answeredRange, parametersOf, type Question } from './question.ts';
import { unknownNames } from './unknown-name.ts';
import { viewRows } from './view-rows.ts';
import { windowsOf } from './window-states.ts';

export interface ModelsQuestion extends Question {
  readonly objectives: Objectives;
  /** Only models with this in their name, whatever the case; '' for all of them. */
  readonly modelContains: string;
  /** Most models of the answer: those with the most requests. */
  readonly limit: number;
}

/**
 * Digests that are merged for one answer: 24 µs each, in one thread. Where more would be read, as with a
 * thousand series, quantiles come from bands. Source: `npm run bench -- dashboard`, which takes 1.3 s with 28,000.
 */
const mostDigests = 10_000;

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
  readonly trend: (number | null)[];
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
      ...{ digests, readsOnce: range.resolution === '1h', limit },
    },
    // Bands are whole numbers, which add up to the same in any order.
    { isRepeatable: digests },
  );
  if (rows.length === 0) await unknownNames(client, filters);
  const seconds = elapsedSeconds(question);
  return {
    range: answeredRange(range, true),
    windows: windowsOf(range, bounds),
    quantiles_from: digests ? 'digests' : 'bands',
    total_models: Number(rows[0]?.total_models ?? 0),
    rows: rows.map(({ objective, good, budget_left, total_models: _, ...row }) => {
      const requests = Number(row.requests);
      return {
        ...row,
        requests,
        failed: Number(row.failed),
        requests_per_second: requests / seconds,
        objective: objectiveOf(ordered, { objective, good, budget_left }),
      };
    }),
    sql,
  };
}

/** Length of the part of a range that is complete, or of all of it where none is. */
function elapsedSeconds({ range, bounds }: Question): number {
  const until = Math.min(range.toSeconds, bounds.completeMs / 1000);
  const end = until > range.fromSeconds ? until : range.toSeconds;
  return end - range.fromSeconds;
}
