import { totalStage } from '../base/dimensions.ts';
import type { SeriesWindow, StageSummary } from './series-window.ts';

/**
 * The stage that stands for the whole requests: `total`, or where none has one the stage with most
 * requests.
 */
export function wholeRequest({ stages }: SeriesWindow): StageSummary | undefined {
  const total = stages.get(totalStage);
  if (total !== undefined) return total;
  let most: StageSummary | undefined;
  for (const summary of stages.values()) {
    if (most === undefined || summary.requests > most.requests) most = summary;
  }
  return most;
}
