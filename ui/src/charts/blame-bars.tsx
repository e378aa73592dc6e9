import { useSignal } from '@preact/signals';
import { formatSignedMs, wholePercent } from '../format/number.ts';
import { Value } from '../parts/value.tsx';
import { type BlameBar, type BlamePart, blameOf } from './geometry/blame.ts';
import { ChartFrame, type Cursor } from './parts/chart-frame.tsx';

interface Props {
  readonly label: string;
  readonly parts: readonly BlamePart[];
  /** Name of the sum of all parts: "all stages". */
  readonly sumName: string;
}

/** Bars at most; further stages are one. */
const mostBars = 8;

/** Signed parts of an excess by stage, from a common zero, with their sum below a rule. */
export function BlameBars({ label, parts, sumName }: Props) {
  const { bars, total, totalMs, zero } = blameOf(parts, mostBars);
  const cursor = useSignal<Cursor | null>(null);
  // Shares of a sum that is next to nothing say nothing.
  const hasShares = total.width >= leastSum;
  const lines = [
    ...bars.map((bar) => (hasShares ? bar : { ...bar, share: null })),
    { ...total, stage: sumName, excess_ms: totalMs, share: hasShares && totalMs !== 0 ? 1 : null },
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
                <Value value={bar.excess_ms} as={formatSignedMs} />
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

/** Width of the sum's bar from which shares of it are shown. */
const leastSum = 0.1;

function sentenceOf(bar: BlameBar | undefined): string {
  if (bar === undefined) return '';
  const share = bar.share === null ? '' : `, ${wholePercent(bar.share)} of the sum`;
  return `${bar.stage}: ${formatSignedMs(bar.excess_ms)}${share}`;
}
