import { boundPrefix, msFormat, plural, quantileName } from '../../format/number.ts';
import { stepText } from '../../format/time.ts';
import { Quantile } from '../../parts/value.tsx';
import { zone } from '../../state/zone.ts';
import { Key, StepKeys } from '../parts/legend-keys.tsx';
import { colorOf, type Shown, shownLines } from './fan-marks.tsx';

export interface Overall {
  readonly requests: number;
  readonly quantiles: readonly {
    readonly q: number;
    readonly ms: number | null;
    readonly at_least: boolean;
  }[];
}

interface Props extends Shown {
  /** The step under the cursor. */
  readonly step: number | null;
  readonly overall: Overall | null;
  /** What the counts count. @default 'request' */
  readonly noun?: string;
  readonly onHide?: (q: number) => void;
}

/** Names, swatches and numbers: of the whole range, or of the step under the cursor. */
export function FanLegend({ fan, step, overall, noun = 'request', mainQ, hidden, onHide }: Props) {
  const of = step === null ? overall : stepOf(fan, step);
  const at = (q: number) => of?.quantiles.find((known) => known.q === q);
  const { unit, format } = msFormat(of?.quantiles.map(({ ms }) => ms) ?? []);
  const state = step === null ? 'final' : fan.states[step];
  const [low, median, high] = (['low', 'median', 'high'] as const).map((edge) =>
    step === null ? null : (fan.baseline?.[edge][step] ?? null),
  );
  return (
    <>
      <span class="chart-legend-at">
        {step === null ? overall !== null && 'Whole range' : stepText(fan.grid, step, zone.value)}
      </span>
      {fan.lines.map(({ q }) => (
        <button
          key={q}
          type="button"
          class="chart-key"
          aria-pressed={!hidden.has(q)}
          data-main={q === mainQ}
          disabled={onHide === undefined}
          title={`${hidden.has(q) ? 'Show' : 'Hide'} ${quantileName(q)}`}
          onClick={() => onHide?.(q)}
        >
          <i class="chart-swatch-line" data-q={colorOf(q)} />
          {quantileName(q)}{' '}
          {of !== null && (
            <b>
              <Quantile q={q} ms={at(q)?.ms} requests={of.requests} noun={noun}>
                {boundPrefix(at(q)?.at_least === true)}
                {format(at(q)?.ms)}
              </Quantile>
            </b>
          )}
        </button>
      ))}
      {of !== null && (
        <>
          <span class="chart-unit-word">{unit}</span>
          <span class="chart-legend-n">
            {plural(of.requests, noun)}
            {state !== 'final' && `, ${state}`}
          </span>
        </>
      )}
      {low != null && median != null && high != null && (
        <span class="chart-legend-n">
          baseline {quantileName(mainQ)} {format(median)} ({format(low)} to {format(high)})
        </span>
      )}
    </>
  );
}

function stepOf({ requests, lines }: Shown['fan'], step: number): Overall {
  return {
    requests: requests[step] ?? 0,
    quantiles: lines.map(({ q, values, bounds }) => ({
      ...{ q, ms: values[step] ?? null, at_least: bounds.includes(step) },
    })),
  };
}

/** Meaning of the marks in the plot. */
export function FanKeys(shown: Shown) {
  const { fan, mainQ } = shown;
  return (
    <span class="chart-marks">
      {fan.baseline !== null && (
        <Key swatch="chart-swatch-baseline">baseline {quantileName(mainQ)}</Key>
      )}
      <StepKeys
        isBound={shownLines(shown).some(({ bounds }) => bounds.length > 0)}
        isThin={shownLines(shown).some(({ thin }) => thin.length > 0)}
        isOpen={fan.states.includes('open')}
        isStored={fan.notStored === null}
      />
    </span>
  );
}
