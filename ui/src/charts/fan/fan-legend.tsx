import type { Signal } from '@preact/signals';
import { formatCount, msFormat, quantileName } from '../../format/number.ts';
import { Quantile } from '../../parts/value.tsx';
import { utc } from '../../state/zone.ts';
import type { Fan } from '../geometry/fan.ts';
import type { Cursor } from '../parts/chart-frame.tsx';
import { stepText } from '../parts/time-text.ts';
import { colorOf } from './fan-scene.ts';

export interface OverallQuantile {
  readonly q: number;
  readonly ms: number | null;
}

interface Props {
  readonly fan: Fan;
  readonly cursor: Signal<Cursor | null>;
  readonly overall: {
    readonly requests: number;
    readonly quantiles: readonly OverallQuantile[];
  } | null;
  readonly mainQ: number;
  readonly hidden: ReadonlySet<number>;
  readonly onHide?: (q: number) => void;
}

/** Names, swatches and numbers: of the whole range, or of the step under the cursor. */
export function FanLegend({ fan, cursor, overall, mainQ, hidden, onHide }: Props) {
  const step = cursor.value?.column ?? null;
  const isStep = step !== null && step < fan.times.length;
  const hasNumbers = isStep || overall !== null;
  const requests = isStep ? (fan.requests[step] ?? 0) : (overall?.requests ?? 0);
  const msOf = (q: number, i: number) =>
    isStep
      ? (fan.lines[i]?.values[step] ?? null)
      : (overall?.quantiles.find((known) => known.q === q)?.ms ?? null);
  const baseline = isStep && fan.baseline !== null ? bandOf(fan.baseline, step) : null;
  const values = fan.lines.map(({ q }, i) => msOf(q, i));
  const { unit, format } = msFormat(values);
  const state = isStep ? fan.states[step] : undefined;
  return (
    <div class="chart-legend">
      <span class="chart-legend-at">
        {isStep
          ? stepText(fan.times[step] ?? 0, fan.stepMs, utc.value)
          : overall !== null && 'Whole range'}
      </span>
      {fan.lines.map(({ q }, i) => (
        <button
          key={q}
          type="button"
          class="chart-key"
          aria-pressed={!hidden.has(q)}
          data-main={q === mainQ}
          disabled={onHide === undefined}
          title={hidden.has(q) ? `Show ${quantileName(q)}` : `Hide ${quantileName(q)}`}
          onClick={() => onHide?.(q)}
        >
          <i class="chart-swatch-line" data-q={colorOf(q).slice(-1)} />
          {quantileName(q)}{' '}
          {hasNumbers && (
            <b>
              <Quantile q={q} ms={values[i]} requests={requests}>
                {format(values[i])}
              </Quantile>
            </b>
          )}
        </button>
      ))}
      {hasNumbers && <span class="chart-unit-word">{unit}</span>}
      {hasNumbers && (
        <span class="chart-legend-n">
          {formatCount(requests)} {requests === 1 ? 'request' : 'requests'}
          {state !== undefined && state !== 'final' && `, ${state}`}
        </span>
      )}
      {baseline !== null && (
        <span class="chart-legend-n">
          baseline {quantileName(mainQ)} {format(baseline.median)} ({format(baseline.low)} to{' '}
          {format(baseline.high)})
        </span>
      )}
    </div>
  );
}

/** Meaning of the marks in the plot. */
export function FanMarks({ fan, mainQ, hidden }: Pick<Props, 'fan' | 'mainQ' | 'hidden'>) {
  const hasThin = fan.lines.some(({ q, thin }) => thin.length > 0 && !hidden.has(q));
  return (
    <span class="chart-marks">
      {fan.baseline !== null && (
        <span class="chart-key-static">
          <i class="chart-swatch-baseline" />
          baseline {quantileName(mainQ)}
        </span>
      )}
      {hasThin && (
        <span class="chart-key-static">
          <i class="chart-swatch-hollow" />
          few requests
        </span>
      )}
      {fan.states.includes('open') && (
        <span class="chart-key-static">
          <i class="chart-swatch-open" />
          open
        </span>
      )}
      {fan.notStored !== null && (
        <span class="chart-key-static">
          <i class="chart-swatch-hatched" />
          not stored yet
        </span>
      )}
    </span>
  );
}

function bandOf(baseline: NonNullable<Fan['baseline']>, step: number) {
  const [low, median, high] = [baseline.low[step], baseline.median[step], baseline.high[step]];
  if (low == null || median == null || high == null) return null;
  return { low, median, high };
}
