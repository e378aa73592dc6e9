import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import type { SliceRow } from '../../data/answers.ts';
import { shownName } from '../../format/name.ts';
import { formatCount, formatMs, msFormat } from '../../format/number.ts';
import { Value } from '../../parts/value.tsx';
import type { Composition, Segment, SliceBar } from '../geometry/composition.ts';
import { linearTicks } from '../geometry/scale.ts';
import { ChartFrame, type Cursor } from '../parts/chart-frame.tsx';
import { useWidth } from '../parts/use-width.ts';
import { sliceEdges, sliceName } from './slice-name.ts';
import { stageClass } from './stage-colors.ts';

interface Props {
  readonly label: string;
  readonly composition: Composition;
}

/** Width of a letter in a bar, and room around a text. */
const letterPx = 6.7;
const paddingPx = 10;

/**
 * A bar a slice of requests: as long as its mean total, divided into the mean of each stage in them.
 * Below it, outlined, the same share of requests in the baseline. A bar with a torn end is longer than drawn.
 */
export function CompositionBars({ label, composition }: Props) {
  const { bars, tail, stages, mostMs, focus } = composition;
  const cursor = useSignal<Cursor | null>(null);
  const scale = useRef<HTMLDivElement>(null);
  const width = useWidth(scale);
  const { unit, format, tick } = msFormat([mostMs, ...bars.map(({ slice }) => slice.mean_ms)]);
  const ticks = linearTicks([0, mostMs], Math.max(2, Math.floor(width / 90))).filter(
    (ms) => width * (1 - ms / mostMs) > 42,
  );
  const describe = ({ column, row }: Cursor) => sentenceOf(bars[row], stages[column]);
  const hasBaseline = bars.some(({ baseline }) => baseline !== null);
  const at = cursor.value;
  return (
    <div class="chart chart-composition">
      <div class="chart-legend">
        {tail !== undefined && (
          <span class="chart-key-static">
            {sliceName(tail)}, {unit}:
          </span>
        )}
        {stages.map((stage, column) => (
          <span key={stage} class="chart-key-static" data-at={at?.column === column}>
            <i class={`chart-swatch ${stageClass(stage, focus)}`} />
            {stage} <b>{tick(msIn(tail, stage))}</b>
          </span>
        ))}
        {hasBaseline && (
          <span class="chart-key-static">
            <i class="chart-swatch chart-swatch-outline" />
            baseline
          </span>
        )}
        {bars.some(({ isCut }) => isCut) && (
          <span class="chart-key-static">
            <i class="chart-swatch chart-swatch-torn" />
            longer than drawn
          </span>
        )}
      </div>
      <ChartFrame
        label={label}
        columns={stages.length}
        rows={bars.length}
        cursor={cursor}
        describe={describe}
        start={{ column: 0, row: Math.max(0, bars.length - 1) }}
        isList
      >
        <div class="slices" data-unit={unit}>
          {bars.map((bar, i) => (
            <SliceLine
              key={`${bar.slice.from_share}`}
              bar={bar}
              width={width}
              mean={format(bar.slice.mean_ms)}
              {...{ unit, tick }}
              classOf={(stage) => stageClass(stage, focus)}
              atStage={at !== null && at.row === i ? stages[at.column] : undefined}
              onPoint={(stage) => {
                cursor.value = stage === null ? null : { column: stages.indexOf(stage), row: i };
              }}
            />
          ))}
          <div class="slice-axis" aria-hidden="true">
            <span />
            <div ref={scale} class="slice-scale">
              {ticks.map((ms) => (
                <span key={ms} style={{ left: `${(ms / mostMs) * 100}%` }}>
                  {tick(ms)}
                  {ms === 0 && ` ${unit}`}
                </span>
              ))}
            </div>
            <span class="slice-mean">mean, {unit}</span>
            <span class="slice-n">requests</span>
          </div>
        </div>
      </ChartFrame>
      <p class="chart-readout">{at === null ? ' ' : describe(at)}</p>
    </div>
  );
}

interface LineProps {
  readonly bar: SliceBar;
  readonly width: number;
  readonly mean: string;
  readonly unit: string;
  /** A duration in that unit. */
  readonly tick: (ms: number) => string;
  readonly classOf: (stage: string) => string;
  readonly atStage: string | undefined;
  readonly onPoint: (stage: string | null) => void;
}

function SliceLine({ bar, width, mean, unit, tick, classOf, atStage, onPoint }: LineProps) {
  const { slice, segments, baseline, scaleMs, isCut } = bar;
  const percent = (ms: number) => `${(ms / scaleMs) * 100}%`;
  return (
    <div class="slice">
      <div class="slice-name">
        <b>{sliceName(slice)}</b>
        <span>{sliceEdges(slice)}</span>
      </div>
      <div class="slice-bars" data-cut={isCut}>
        <div class="slice-bar" onPointerLeave={() => onPoint(null)}>
          {segments.map(({ stage, startMs, ms }) => (
            <span
              key={stage}
              class={`slice-part ${classOf(stage)}`}
              data-at={stage === atStage}
              style={{ left: percent(startMs), width: percent(ms) }}
              onPointerEnter={() => onPoint(stage)}
            >
              {partText(stage, tick(ms), (ms / scaleMs) * width)}
            </span>
          ))}
        </div>
        {baseline !== null && (
          <div
            class="slice-baseline"
            style={{ width: percent(endOf(baseline)) }}
            aria-hidden="true"
          >
            {baseline.map(({ stage, startMs, ms }) => (
              <span
                key={stage}
                class={classOf(stage)}
                style={{
                  left: `${(startMs / endOf(baseline)) * 100}%`,
                  width: `${(ms / endOf(baseline)) * 100}%`,
                }}
              />
            ))}
          </div>
        )}
      </div>
      <div class="slice-mean" data-unit={unit}>
        <Value value={slice.mean_ms}>{mean}</Value>
      </div>
      <div class="slice-n" data-unit="requests">
        <Value value={slice.requests}>{formatCount(slice.requests)}</Value>
      </div>
    </div>
  );
}

const endOf = (segments: readonly Segment[]) => {
  const last = segments.at(-1);
  return last === undefined ? 1 : last.startMs + last.ms;
};

const msIn = (slice: SliceRow | undefined, stage: string) =>
  slice?.parts.find((part) => part.stage === stage)?.mean_ms ?? 0;

/** As much of "queue 190" as fits. */
function partText(stage: string, ms: string, px: number): string {
  const text = `${shownName(stage)} ${ms}`;
  if (text.length * letterPx + paddingPx <= px) return text;
  return stage.length * letterPx + paddingPx <= px ? stage : '';
}

/** "slowest 1.2 %, above 304 ms: queue 190 ms of 322 ms, baseline 40 ms". */
function sentenceOf(bar: SliceBar | undefined, stage: string | undefined): string {
  if (bar === undefined || stage === undefined) return '';
  const { slice } = bar;
  const find = (parts: readonly { readonly stage: string; readonly mean_ms: number }[]) =>
    parts.find((part) => part.stage === stage)?.mean_ms ?? 0;
  const before =
    slice.baseline === null ? '' : `, baseline ${formatMs(find(slice.baseline.parts))}`;
  const edges = sliceEdges(slice);
  return `${sliceName(slice)}${edges && `, ${edges}`}: ${shownName(stage)} ${formatMs(find(slice.parts))} of ${formatMs(slice.mean_ms)}${before}`;
}
