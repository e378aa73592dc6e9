import { useSignal } from '@preact/signals';
import { formatSignedMs, wholePercent } from '../format/number.ts';
import { Value } from '../parts/value.tsx';
import { type BlameBar, type BlamePart, blameOf } from './geometry/blame.ts';
import { ChartFrame, type Cursor } from './parts/chart-frame.tsx';

interface Props {
  readonly label: string;
  readonly parts: readonly BlamePart[];
  /** What all parts add up to: "all stages". */
  readonly sumName: string;
}

/** Bars at most; further stages are one. */
const mostBars = 8;

/** Signed parts of an excess by stage, from a common zero, with their sum below a rule. */
export function BlameBars({ label, parts, sumName }: Props) {
  const { bars, total, totalMs, zero } = blameOf(parts, mostBars);
  const cursor = useSignal<Cursor | null>(null);
  const lines = [
    ...bars,
    { ...total, stage: sumName, excess_ms: totalMs, share: totalMs === 0 ? null : 1 },
  ];
  const describe = ({ row }: Cursor) => sentenceOf(lines[row]);
  return (
    <div class="chart chart-blame">
      <ChartFrame
        label={label}
        columns={1}
        rows={lines.length}
        cursor={cursor}
        describe={describe}
        isList
      >
        <div class="blame">
          {lines.map((bar, i) => (
            <div
              key={bar.stage}
              class="blame-line"
              data-sum={i === lines.length - 1}
              data-at={cursor.value?.row === i}
            >
              <span class="blame-name">{bar.stage}</span>
              <span class="blame-track">
                <i class="blame-zero" style={{ left: `${zero * 100}%` }} />
                <i
                  class={bar.excess_ms < 0 ? 'blame-bar blame-less' : 'blame-bar blame-more'}
                  style={{ left: `${bar.left * 100}%`, width: `${bar.width * 100}%` }}
                />
              </span>
              <span class="blame-ms">
                <Value value={bar.excess_ms}>{formatSignedMs(bar.excess_ms)}</Value>
              </span>
              <span class="blame-share">
                <Value value={bar.share}>{bar.share === null ? '' : wholePercent(bar.share)}</Value>
              </span>
            </div>
          ))}
        </div>
      </ChartFrame>
    </div>
  );
}

function sentenceOf(bar: BlameBar | undefined): string {
  if (bar === undefined) return '';
  const share = bar.share === null ? '' : `, ${wholePercent(bar.share)} of the sum`;
  return `${bar.stage}: ${formatSignedMs(bar.excess_ms)}${share}`;
}
