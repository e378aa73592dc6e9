import type { Config } from '../../config/schema.ts';
import type { ModelRow } from '../answers/models.ts';

export type Objectives = Config['detect']['slos'];

/** What a query counts of the objective of a model. */
interface Counted {
  /** Place of the objective among the ordered ones, counted from 1; 0 for none. */
  readonly objective: number;
  readonly good: number | null;
  readonly budget_left: number | null;
}

/**
 * Objectives in the order in which one is chosen for a model: the strictest first, of the least threshold,
 * then of the largest part that must be good. One of a request type counts where only requests of that type
 * are asked for.
 */
export function orderedObjectives(objectives: Objectives, requestType: string): Objectives {
  return objectives
    .filter((one) => one.request_type === undefined || one.request_type === requestType)
    .toSorted((a, b) => a.threshold - b.threshold || b.objective - a.objective);
}

/** Parameters of sql/queries/view_models.sql. */
export function objectiveParameters(ordered: Objectives) {
  return {
    objectiveModels: ordered.map(({ model }) => likePattern(model)),
    objectiveThresholds: ordered.map(({ threshold }) => threshold),
    objectiveShares: ordered.map(({ objective }) => objective),
  };
}

/** A pattern with `*` for any text, as LIKE takes it. */
function likePattern(pattern: string): string {
  return pattern.replaceAll(/[\\%_]/g, '\\$&').replaceAll('*', '%');
}

/** The objective of a model, with what was counted. */
export function objectiveOf(
  ordered: Objectives,
  { objective: at, good, budget_left }: Counted,
): ModelRow['objective'] {
  const chosen = ordered[at - 1];
  if (chosen === undefined) return null;
  const { threshold, objective, name } = chosen;
  return {
    name: name ?? `${objective * 100} % of requests within ${threshold} ms`,
    ...{ objective, threshold_ms: threshold, good, budget_left },
  };
}
