import { minuteMs } from '../../../src/base/time.ts';
import type { TimeSpan } from '../format/time.ts';
import { absolute, type Changes } from './url.ts';

/**
 * Both sides of a comparison of a time with as much before it. A comparison has whole minutes: those that
 * lie wholly within the time, where it has one.
 */
export function comparedWithBefore(span: TimeSpan): Changes {
  const whole = {
    fromMs: Math.ceil(span.fromMs / minuteMs) * minuteMs,
    toMs: Math.floor(span.toMs / minuteMs) * minuteMs,
  };
  const during = whole.fromMs < whole.toMs ? whole : span;
  // The range before ends with the last minute without any of it.
  const endMs = Math.floor(span.fromMs / minuteMs) * minuteMs;
  const before = { fromMs: Math.max(0, endMs - (during.toMs - during.fromMs)), toMs: endMs };
  const [a, b] = [absolute(before), absolute(during)];
  return { 'a.from': a.from, 'a.to': a.to, 'b.from': b.from, 'b.to': b.to };
}
