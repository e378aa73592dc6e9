import type { Signal } from '@preact/signals';
import { formatRange } from '../../format/time.ts';
import { comparedWithBefore } from '../../state/before.ts';
import { nowMs } from '../../state/now.ts';
import { hrefTo, hrefWith, place } from '../../state/place.ts';
import { absolute, modelOf } from '../../state/url.ts';
import { utc } from '../../state/zone.ts';
import type { TimeSpan } from '../geometry/step-grid.ts';

interface Props {
  readonly selected: Signal<TimeSpan | null>;
  readonly onClear: () => void;
}

/** Actions on a selected time. The page does not refresh while it is there. */
export function SelectionBar({ selected, onClear }: Props) {
  const span = selected.value;
  if (span === null) return null;
  const model = modelOf(place.value);
  const inTime = absolute(span);
  return (
    <div class="chart-selection" role="status">
      <span>{formatRange(span, { utc: utc.value, nowMs: nowMs() })} selected</span>
      <a href={hrefWith(inTime)}>Zoom in</a>
      {model !== undefined && (
        <>
          <a href={hrefTo({ view: 'compare' }, { model, ...comparedWithBefore(span) })}>
            Compare with before
          </a>
          <a href={`${hrefTo({ view: 'model', model }, inTime)}#requests`}>Slowest requests</a>
        </>
      )}
      <button type="button" class="small" onClick={onClear}>
        Clear
      </button>
    </div>
  );
}
