import { formatRatio } from '../format/number.ts';

/** Height of half a strip, and the log2 ratio that fills it: four times the baseline. */
const half = 10;
const full = 2;
/** Least ratio that is drawn as more than a line: noise else looks like news. */
const least = 0.05;

interface RatioStripProps {
  /** log2 of a value over its baseline by step; null for a step without requests. */
  readonly trend: readonly (number | null)[];
}

/** Bars over time: up and orange is slower than the baseline, down and blue is faster, a gap is no request. */
export function RatioStrip({ trend }: RatioStripProps) {
  const known = trend.filter((value) => value !== null);
  if (known.length === 0) return null;
  const [last, most] = [known.at(-1) ?? 0, Math.max(...known)];
  const label = `p99 over its baseline: ${formatRatio(2 ** last)} last, ${formatRatio(2 ** most)} at most`;
  return (
    <svg
      class="strip"
      role="img"
      aria-label={label}
      viewBox={`0 0 ${Math.max(1, trend.length)} ${2 * half}`}
      preserveAspectRatio="none"
    >
      <title>{label}</title>
      <path class="strip-line" d={lineOf(trend)} />
      <path class="slower" d={barsOf(trend, 1)} />
      <path class="faster" d={barsOf(trend, -1)} />
    </svg>
  );
}

/** Ratios of the scale, and what a bar of each is called: the last one fills its half. */
const scale = [
  [-1, '× ½'],
  [0, '× 1'],
  [1, '× 2'],
  [full, '× 4+'],
] as const;

/** Says how high a bar of a strip is. */
export function RatioScale({ of }: { readonly of: string }) {
  return (
    <p class="hint strip-scale" title="Bars are as high as log2 of the ratio">
      {of}
      {scale.map(([log2, name]) => (
        <span key={name}>
          <svg
            class="strip"
            viewBox={`0 0 1 ${2 * half}`}
            preserveAspectRatio="none"
            aria-hidden="true"
          >
            <path class="strip-line" d={lineOf([log2])} />
            <path class={log2 < 0 ? 'faster' : 'slower'} d={barsOf([log2], log2 < 0 ? -1 : 1)} />
          </svg>
          {name}
        </span>
      ))}
    </p>
  );
}

function lineOf(trend: readonly (number | null)[]): string {
  return trend.map((value, at) => (value === null ? '' : `M${at} ${half - 0.5}h1v1h-1z`)).join('');
}

function barsOf(trend: readonly (number | null)[], sign: 1 | -1): string {
  return trend
    .map((value, at) => {
      if (value === null || value * sign < least) return '';
      const height = Math.min(1, (value * sign) / full) * half;
      return `M${at + 0.08} ${half}v${(-sign * height).toFixed(2)}h.84V${half}z`;
    })
    .join('');
}
