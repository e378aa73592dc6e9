import { isDimensionName } from '../../base/dimensions.ts';
import type { AnomalyEvent } from '../../contract/anomaly-event.ts';
import { matchesPattern } from '../../series/matches-pattern.ts';
import type { Mute } from '../../sink/anomalies/mute-store.ts';
import { valuesOf } from './matches.ts';

/**
 * True if nobody is notified of an anomaly now. All series that the event names must be muted. An anomaly
 * that is over and was detected before the mute began is not muted.
 */
export function isMutedBy(mute: Mute, event: AnomalyEvent, nowMs: number): boolean {
  if (nowMs < mute.fromMs || nowMs >= mute.untilMs) return false;
  if (event.state === 'resolved' && Date.parse(event.detected_at) < mute.fromMs) return false;
  return covers(mute, event);
}

/** True if a mute covers this anomaly, at whatever time it holds. */
export function covers(mute: Mute, event: AnomalyEvent): boolean {
  if (mute.kinds.length > 0 && !mute.kinds.includes(event.kind)) return false;
  const areAll = (patterns: readonly string[], values: readonly string[]) =>
    values.every((value) => patterns.some((pattern) => matchesPattern(pattern, value)));
  if (mute.models.length > 0 && !areAll(mute.models, valuesOf(event, 'model'))) return false;
  return Object.entries(mute.dimensions).every(
    ([dimension, pattern]) =>
      !isDimensionName(dimension) || areAll([pattern], valuesOf(event, dimension)),
  );
}
