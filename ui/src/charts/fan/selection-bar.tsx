import type { Signal } from '@preact/signals';
import { formatRange } from '../../format/time.ts';
import { nowMs } from '../../state/now.ts';
import { hrefTo, hrefWith, place } from '../../state/place.ts';
import { absolute } from '../../state/url.ts';
import { utc } from '../../state/zone.ts';
import type { TimeSpan } from '../geometry/step-grid.ts';

interface Props {
  readonly selected: Signal<TimeSpan | null>;
  readonly onClear: () => void;
}

/** What can be done with a selected time. The page does not refresh while it is there. */
export function SelectionBar({ selected, onClear }: Props) {
  const span = selected.value;
  if (span === null) return null;
  const { fromMs, toMs } = span;
  const before = { fromMs: 2 * fromMs - toMs, toMs: fromMs };
  const { route, params } = place.value;
  const model = route.view === 'model' ? route.model : params.model;
  const inTime = absolute(span);
  return (
    <div class="chart-selection" role="status">
      <span>{formatRange(span, { utc: utc.value, nowMs: nowMs() })} selected</span>
      <a href={hrefWith(inTime)}>Zoom in</a>
      {model !== undefined && (
        <>
          <a
            href={hrefTo(
              { view: 'compare' },
              {
                model,
                version: params.version,
                region: params.region,
                request_type: params.request_type,
                start: params.start,
                'a.from': absolute(before).from,
                'a.to': absolute(before).to,
                'b.from': inTime.from,
                'b.to': inTime.to,
              },
            )}
          >
            Compare with before
          </a>
          <a href={hrefTo({ view: 'model', model }, { ...params, ...inTime, only: 'requests' })}>
            Slowest requests
          </a>
        </>
      )}
      <button type="button" class="small" onClick={onClear}>
        Clear
      </button>
    </div>
  );
}
