import type { WindowState, Windows } from './answers/common.ts';
import { stepsOf, type TimeRange } from './time-range.ts';

/** Event times that say what can still become of a window, in milliseconds; -Infinity for none. */
export interface WindowBounds {
  /** Windows that end by then are complete. */
  readonly completeMs: number;
  /** Nothing that is older can change. */
  readonly finalMs: number;
}

export function stateOf(endMs: number, { completeMs, finalMs }: WindowBounds): WindowState {
  if (endMs <= Math.min(finalMs, completeMs)) return 'final';
  return endMs <= completeMs ? 'provisional' : 'open';
}

/** State of a range as a whole. */
export function rangeState({ toSeconds }: TimeRange, bounds: WindowBounds): WindowState {
  return stateOf(toSeconds * 1000, bounds);
}

/** Number of steps of a range in each state. Steps are final first, then provisional, then open. */
export function windowsOf(range: TimeRange, { completeMs, finalMs }: WindowBounds): Windows {
  const steps = stepsOf(range);
  const until = (ms: number) => {
    const ended = Math.floor((ms / 1000 - range.fromSeconds) / range.stepSeconds);
    return Math.min(steps, Math.max(0, ended));
  };
  const complete = until(completeMs);
  const final = Math.min(complete, until(finalMs));
  return { final, provisional: complete - final, open: steps - complete };
}
