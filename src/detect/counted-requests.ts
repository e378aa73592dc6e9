import type { SeriesWindow } from '../baseline/series-window.ts';
import { wholeRequest } from '../baseline/whole-request.ts';
import type { CountedRequests, WholeRequests } from './proportion.ts';

/** How many requests of a window failed; undefined where it has none. */
export function failedRequests(window: SeriesWindow | undefined): CountedRequests | undefined {
  const whole = window && wholeRequest(window);
  if (whole === undefined) return undefined;
  return { whole, hits: whole.errors + whole.timeouts, digests: whole.digest };
}

/** How many requests of a series, warm and cold together, were cold starts; undefined where there are none. */
export function coldRequests(
  warm: SeriesWindow | undefined,
  cold: SeriesWindow | undefined,
): CountedRequests | undefined {
  const [ofWarm, ofCold] = [failedRequests(warm), failedRequests(cold)];
  const both = [ofWarm, ofCold].filter((each) => each !== undefined);
  const parts = both.map(({ whole }) => whole);
  const [first] = parts;
  if (first === undefined) return undefined;
  const sum = (of: (part: WholeRequests) => number) =>
    parts.reduce((total, part) => total + of(part), 0);
  return {
    whole: {
      stage: first.stage,
      requests: sum(({ requests }) => requests),
      errors: sum(({ errors }) => errors),
      timeouts: sum(({ timeouts }) => timeouts),
    },
    digests: both.flatMap(({ digests }) => digests),
    hits: ofCold?.whole.requests ?? 0,
  };
}
