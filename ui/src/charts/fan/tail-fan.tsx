import { type Signal, useSignal, useSignalEffect } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { comparedWithBefore } from '../../../../src/contract/compared-times.ts';
import { hold } from '../../data/use-answer.ts';
import {
  boundPrefix,
  formatCount,
  formatMs,
  hollowReason,
  isHollow,
  msFormat,
  quantileName,
} from '../../format/number.ts';
import { formatRange, stepText } from '../../format/time.ts';
import { hrefTo, hrefWith, place } from '../../state/place.ts';
import { sidesOf } from '../../state/sides-of.ts';
import { absolute, modelOf } from '../../state/url.ts';
import { zone, zoneNow } from '../../state/zone.ts';
import { type Fan, fanExtent } from '../geometry/fan.ts';
import { dotsPath } from '../geometry/paths.ts';
import { stepStart } from '../geometry/step-grid.ts';
import { logAxis } from '../parts/axis.ts';
import type { Cursor } from '../parts/chart-frame.tsx';
import type { Lane } from '../parts/event-lane.tsx';
import type { Columns } from '../parts/plot.tsx';
import { TimePlot } from '../parts/time-plot.tsx';
import { FanKeys, FanLegend, type Overall } from './fan-legend.tsx';
import { colorOf, FanMarks, type Shown, shownLines } from './fan-marks.tsx';

interface Props extends Shown {
  readonly label: string;
  /** Quantiles of the whole range, merged: what the legend shows without a cursor. */
  readonly overall: Overall | null;
  /** What the counts count. @default 'request' */
  readonly noun?: string;
  readonly onHide?: (q: number) => void;
  readonly lane: Lane;
  /** @default {280} */
  readonly height?: number;
}

/** Room above and below the values of the log axis. */
const headroom = { low: 0.8, high: 1.25 } as const;

/**
 * Quantiles over time on a log axis: the space between them shaded, the baseline as a hatched band, incidents
 * and releases below. Open steps are dashed, steps without requests are gaps, what is not stored is hatched.
 */
export function TailFan(props: Props) {
  const { label, fan, hidden, mainQ, lane, noun = 'request', height = 280 } = props;
  const { grid, notStored } = fan;
  const shown = { fan, hidden, mainQ };
  const brush = useBrush(label);
  const [low, high] = fanExtent(fan, hidden) ?? [1, 1000];
  const { unit, tick } = msFormat([high]);
  return (
    <TimePlot
      name="fan"
      {...{ label, grid, lane, notStored, height, brush }}
      y={logAxis([Math.max(0.01, low * headroom.low), high * headroom.high], tick)}
      describe={({ column }) => stepSentence(fan, column, noun)}
      idle={null}
      start={{ column: fan.requests.findLastIndex((n) => n > 0) }}
      legend={(at) => <FanLegend {...props} step={at?.column ?? null} />}
      above={
        <>
          <span>{unit}, log</span>
          <FanKeys {...shown} />
        </>
      }
      atCursor={({ middle, y }, { column }) =>
        shownLines(shown).map(({ q, values }) => {
          const value = values[column] ?? null;
          if (value === null) return null;
          const d = dotsPath([[middle(column), y(value)]], 3.5);
          return <path key={q} class="fan-at" data-q={colorOf(q)} d={d} />;
        })
      }
      below={<SelectionBar {...{ fan, lane, ...brush }} />}
    >
      {(area) => <FanMarks {...shown} {...{ area, lane }} span={grid} />}
    </TimePlot>
  );
}

/** Steps that are selected; while some are, the page does not refresh. */
function useBrush(name: string) {
  const selected = useSignal<Columns | null>(null);
  const { from, to } = place.value.params;
  // Of another range, and the answer to it would never be asked for.
  useEffect(() => {
    selected.value = null;
  }, [from, to]);
  useSignalEffect(() => hold(name, selected.value !== null));
  useEffect(() => () => hold(name, false), [name]);
  return {
    selected,
    select({ column: one }: Cursor, { column: other }: Cursor) {
      selected.value = [Math.min(one, other), Math.max(one, other)];
    },
    clear() {
      selected.value = null;
    },
  };
}

/** A step as a sentence. */
function stepSentence(
  { grid, requests: all, states, lines, baseline }: Fan,
  step: number,
  noun: string,
): string {
  const at = stepText(grid, step, zone.value);
  const [requests, state] = [all[step] ?? 0, states[step]];
  if (requests === 0) return `${at}: ${state === 'open' ? 'not stored yet' : `no ${noun}s`}`;
  const values = lines.map(
    ({ q, values, bounds }) =>
      `${quantileName(q)} ${boundPrefix(bounds.includes(step))}${formatMs(values[step])}`,
  );
  const few = lines.find(({ q }) => isHollow(q, requests));
  const median = baseline?.median[step] ?? null;
  return [
    `${at}: ${values.join(', ')}`,
    ...(median === null ? [] : [`baseline ${formatMs(median)}`]),
    few === undefined ? `${formatCount(requests)} ${noun}s` : hollowReason(few.q, requests, noun),
    ...(state === 'final' || state === undefined ? [] : [state]),
  ].join('; ');
}

interface BarProps extends Pick<Props, 'fan' | 'lane'> {
  readonly selected: Signal<Columns | null>;
  readonly clear: () => void;
}

/** Actions on selected steps. The page does not refresh while it is there. */
function SelectionBar({ fan, lane, selected, clear }: BarProps) {
  if (selected.value === null) return null;
  const [from, to] = selected.value;
  const { grid, requests } = fan;
  const first = requests.findIndex((count) => count > 0);
  const span = { fromMs: stepStart(grid, from), toMs: stepStart(grid, to + 1) };
  const model = modelOf(place.value);
  const inTime = absolute(span);
  const compared = comparedWithBefore(span, {
    // Before a range that begins with requests there may be more of them.
    firstMs: first > 0 ? stepStart(grid, first) : undefined,
    taken: lane.incidents.map(({ fromMs, toMs }) => ({ fromMs, toMs: toMs ?? grid.toMs })),
  });
  return (
    <div class="chart-selection" role="status">
      <span>{formatRange(span, zoneNow())} selected</span>
      <a href={hrefWith(inTime)}>Zoom in</a>
      {model !== undefined && (
        <>
          {compared !== undefined && (
            <a href={hrefTo({ view: 'compare' }, { model, ...sidesOf(compared) })}>
              Compare with before
            </a>
          )}
          <a href={`${hrefTo({ view: 'model', model }, inTime)}#requests`}>Slowest requests</a>
        </>
      )}
      <button type="button" class="small" onClick={clear}>
        Clear
      </button>
    </div>
  );
}
