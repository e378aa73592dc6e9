import { dimensions } from '../../base/dimensions.ts';
import type { AnomalyEvent } from '../../detect/event/anomaly-event.ts';
import type { Mute } from '../../sink/anomalies/mute-store.ts';
import { matchesPattern, valuesOf } from './matches.ts';

/** Whether nobody is notified of an anomaly now. All series that the event names must be muted. */
export function isMutedBy(mute: Mute, event: AnomalyEvent, nowMs: number): boolean {
  if (nowMs < mute.fromMs || nowMs >= mute.untilMs) return false;
  if (mute.kinds.length > 0 && !mute.kinds.includes(event.kind)) return false;
  const areAll = (patterns: readonly string[], values: readonly string[]) =>
    values.every((value) => patterns.some((pattern) => matchesPattern(pattern, value)));
  if (mute.models.length > 0 && !areAll(mute.models, valuesOf(event, 'model'))) return false;
  return dimensions.every((dimension) => {
    const pattern = mute.dimensions[dimension];
    return pattern === undefined || areAll([pattern], valuesOf(event, dimension));
  });
}
