import type { AnomalyEvent, Bottleneck, Rate, Resolution } from '../../contract/anomaly-event.ts';
import { formatShare, seriesLabel } from '../../contract/format.ts';
import type { Series, SeriesWindow, StageSummary } from '../../series/series-window.ts';
import { wholeRequest } from '../../series/whole-request.ts';
import type { TDigest } from '../../sketch/t-digest.ts';
import type { DetectOptions } from '../options/detect-options.ts';
import type { MinWindows } from './proportion-test.ts';
import type { LeastRise } from './proportion-weights.ts';

/** Whole requests of a window. */
export type WholeRequests = Pick<StageSummary, 'stage' | 'requests' | 'errors' | 'timeouts'>;

/** Whole requests of a series' window, and the hits among them. */
export interface CountedRequests {
  readonly whole: WholeRequests;
  readonly hits: number;
  /** Their durations: one digest where they are of one series. */
  readonly digests: TDigest | readonly TDigest[];
}

/** A proportion of a series' requests: its kind, its texts, and the smallest rise that matters. */
export interface Proportion {
  readonly kind: AnomalyEvent['kind'];
  readonly unit: Rate['unit'];
  readonly bottleneck: Bottleneck;
  readonly leastRise: (options: DetectOptions) => LeastRise;
  readonly minWindows: MinWindows;
  /** As in `SeverityInput`. */
  readonly isUsualInPart: boolean;
  /** The hits, and the sentence about them: "requests fail", "requests are cold starts". */
  readonly hits: string;
  readonly verb: string;
  /** Says that they continue, where their rate is unknown. */
  readonly persists: string;
  /** Ends the summary. */
  readonly detail: (shown: readonly WholeRequests[]) => string;
}

/** Share of timeouts among failures from which the summary names them. */
const mostShare = 0.8;

/** Errors and timeouts together. */
export const failures: Proportion = {
  kind: 'error_rate',
  unit: 'failures per request',
  bottleneck: 'unknown',
  leastRise: ({ min_error_ratio: ratio, min_error_rate: rate }) => ({ ratio, rate }),
  // A pod that restarts fails for half a minute: that should not page.
  minWindows: { mature: 4, young: 12, fresh: 4 },
  isUsualInPart: false,
  hits: 'failures',
  verb: 'fail',
  persists: 'requests keep failing',
  detail: (shown) => {
    const timeouts = shown.reduce((sum, each) => sum + each.timeouts, 0);
    const all = shown.reduce((sum, each) => sum + each.errors + each.timeouts, 0);
    if (timeouts < mostShare * all) return '';
    return `; ${timeouts === all ? 'all' : 'most'} of them time out`;
  },
};

/** Requests that had to wait for a model to be loaded. */
export const coldStarts: Proportion = {
  kind: 'cold_starts',
  unit: 'cold starts per request',
  bottleneck: 'cold_start',
  leastRise: ({ min_cold_start_ratio: ratio, min_cold_start_rate: rate }) => ({ ratio, rate }),
  // Added pods start cold for a minute, all pods of a new version for several.
  minWindows: { mature: 12, young: 30, fresh: 30 },
  isUsualInPart: true,
  hits: 'cold starts',
  verb: 'are cold starts',
  persists: 'cold starts continue',
  detail: () => '',
};

/** "ranker (search, eu-west-1): 4.8 % of requests fail (baseline 0.2 %); most of them time out". */
export function proportionSummary(
  { verb, detail }: Proportion,
  series: Series,
  { observed, baseline }: Rate,
  shown: readonly WholeRequests[],
): string {
  const now = `${formatShare(observed)} of requests ${verb}`;
  return `${seriesLabel(series)}: ${now} (baseline ${formatShare(baseline)})${detail(shown)}`;
}

/** @param rate current rate; undefined without requests. */
export function proportionResolvedSummary(
  { hits, verb, persists }: Proportion,
  event: AnomalyEvent,
  resolution: Resolution,
  rate: number | undefined,
): string {
  const label = seriesLabel(event);
  const baseline = formatShare(event.rate?.baseline ?? 0);
  const now = rate === undefined ? undefined : `${formatShare(rate)} of requests ${verb}`;
  if (resolution === 'no_traffic') return `${label}: too few requests to evaluate ${hits}`;
  if (resolution === 'rebaselined')
    return `${label}: ${now ?? persists}; this is now the baseline (was ${baseline})`;
  return `${label} recovered${now === undefined ? '' : `: ${now}`} (baseline ${baseline})`;
}

/** Failures of a window; undefined without requests. */
export function failedRequests(window: SeriesWindow | undefined): CountedRequests | undefined {
  const whole = window && wholeRequest(window);
  if (whole === undefined) return undefined;
  return { whole, hits: whole.errors + whole.timeouts, digests: whole.digest };
}

/** Cold starts among a series' requests, warm and cold together; undefined without requests. */
export function coldRequests(
  warm: SeriesWindow | undefined,
  cold: SeriesWindow | undefined,
): CountedRequests | undefined {
  const [ofWarm, ofCold] = [warm && wholeRequest(warm), cold && wholeRequest(cold)];
  const parts = [ofWarm, ofCold].filter((part) => part !== undefined);
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
    digests: parts.map(({ digest }) => digest),
    hits: ofCold?.requests ?? 0,
  };
}
