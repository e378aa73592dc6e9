import { useMemo } from 'preact/hooks';
import {
  formatCount,
  formatExactShare,
  formatMsRange,
  formatShare,
  msFormat,
} from '../format/number.ts';
import {
  type DistributionBand,
  type DistributionBar,
  distributionOf,
} from './geometry/distribution.ts';
import { linearAxis, logAxis } from './parts/axis.ts';
import { Key } from './parts/legend-keys.tsx';
import { Plot, plotRight } from './parts/plot.tsx';

interface Props {
  readonly label: string;
  readonly bands: readonly DistributionBand[];
}

/** Share of the requests by duration on a log axis: before as an outline, during filled. */
export function DistributionChart({ label, bands }: Props) {
  const { bars, before, during, mostShare } = useMemo(() => distributionOf(bands), [bands]);
  const [first, end] = [bars[0]?.from_ms ?? 1, bars.at(-1)?.to_ms ?? 2];
  const { unit, tick } = msFormat([end]);
  return (
    <Plot
      name="distribution"
      label={label}
      height={220}
      columns={bars.length}
      x={logAxis([first, end], tick, true)}
      y={linearAxis(mostShare || 1, formatExactShare)}
      describe={({ column }) => sentenceOf(bars[column])}
      title={`${unit}, log`}
      right={plotRight}
      isCell
      legend={() => (
        <>
          <Key swatch="chart-swatch distribution-before">
            before <b>{before === 0 ? 'no requests' : formatCount(before)}</b>
          </Key>
          <Key swatch="chart-swatch distribution-during">
            during <b>{during === 0 ? 'no' : formatCount(during)}</b> requests
          </Key>
        </>
      )}
    >
      {({ slot, y, bottom, left, right }) => (
        <>
          {bars.map(({ from_ms, duringShare }, i) => (
            <rect
              key={from_ms}
              class="distribution-during"
              x={slot(i)[0] + 0.5}
              width={Math.max(1, slot(i)[1] - slot(i)[0] - 1)}
              y={y(duringShare)}
              height={Math.max(0, bottom - y(duringShare))}
            />
          ))}
          {before > 0 && (
            <path
              class="distribution-before"
              d={`M${left},${bottom}${bars.map((bar, i) => `V${y(bar.beforeShare)}H${slot(i)[1]}`).join('')}V${bottom}H${right}`}
            />
          )}
        </>
      )}
    </Plot>
  );
}

function sentenceOf(bar: DistributionBar | undefined): string {
  if (bar === undefined) return '';
  const before = `before ${formatShare(bar.beforeShare)} (${formatCount(bar.before)})`;
  const during = `during ${formatShare(bar.duringShare)} (${formatCount(bar.during)})`;
  return `${formatMsRange(bar.from_ms, bar.to_ms)}: ${before}, ${during}`;
}
