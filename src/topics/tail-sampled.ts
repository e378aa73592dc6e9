import type { ProbeFinding } from '../base/probe-finding.ts';

/** Beginning of the attributes by which the collector's tail sampler says why it kept a trace, where it says so. */
const mark = 'tailsampling.';

/** Adds a warning to the finding of records that were chosen by a sampler which keeps slow or failed traces. */
export function withSampling(
  finding: ProbeFinding,
  records: readonly { readonly value: Buffer | null }[],
): ProbeFinding {
  if (!finding.ok || !records.some(({ value }) => value?.includes(mark))) return finding;
  const advice =
    'Percentiles of what a tail sampler keeps are not those of all requests: send all spans here, or a random part.';
  return {
    ...finding,
    isWarning: true,
    detail: `${finding.detail}; a tail sampler chose some of them (${mark}policy)`,
    hint: finding.hint === undefined ? advice : `${finding.hint} ${advice}`,
  };
}
