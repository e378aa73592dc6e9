import type { SeriesWindow } from '../../series/series-window.ts';
import type { DetectOptions } from '../options/detect-options.ts';
import { shownWindows } from './effect-counts.ts';
import type { OpenTail } from './open-tail.ts';

/** Factor of `min_requests` for the windows over which an update measures the present. */
const presentRequests = 3;

/** The last windows of an anomaly that have a stage: six, or more where these hold few requests. */
export function presentWindows(
  recent: readonly SeriesWindow[],
  { startedAtMs }: OpenTail,
  stage: string,
  { min_requests }: DetectOptions,
): SeriesWindow[] {
  const all = recent.filter(
    ({ windowStartMs, stages }) => windowStartMs >= startedAtMs && stages.has(stage),
  );
  let requests = 0;
  const from = all.findLastIndex(({ stages }, i) => {
    requests += stages.get(stage)?.requests ?? 0;
    return all.length - i >= shownWindows && requests >= presentRequests * min_requests;
  });
  return all.slice(Math.max(0, from));
}
