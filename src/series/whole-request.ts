import { totalStage } from '../base/dimensions.ts';

/** Stage that represents whole requests: `total`, otherwise the stage with most requests. */
export function wholeRequest<Stage extends { readonly requests: number }>({
  stages,
}: {
  readonly stages: ReadonlyMap<string, Stage>;
}): Stage | undefined {
  const total = stages.get(totalStage);
  if (total !== undefined) return total;
  let most: Stage | undefined;
  for (const summary of stages.values()) {
    if (most === undefined || summary.requests > most.requests) most = summary;
  }
  return most;
}
