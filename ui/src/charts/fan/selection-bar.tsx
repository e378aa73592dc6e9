import type { Signal } from '@preact/signals';
import { formatRange } from '../../format/time.ts';
import { comparedWithBefore } from '../../state/before.ts';
import { hrefTo, hrefWith, place } from '../../state/place.ts';
import { absolute, modelOf } from '../../state/url.ts';
import { zoneNow } from '../../state/zone.ts';
import { type StepGrid, stepStart } from '../geometry/step-grid.ts';
import type { Columns } from '../parts/plot.tsx';

interface Props {
  readonly grid: StepGrid;
  readonly selected: Signal<Columns | null>;
  readonly clear: () => void;
}

/** Actions on selected steps. The page does not refresh while it is there. */
export function SelectionBar({ grid, selected, clear }: Props) {
  if (selected.value === null) return null;
  const [from, to] = selected.value;
  const span = { fromMs: stepStart(grid, from), toMs: stepStart(grid, to + 1) };
  const model = modelOf(place.value);
  const inTime = absolute(span);
  return (
    <div class="chart-selection" role="status">
      <span>{formatRange(span, zoneNow())} selected</span>
      <a href={hrefWith(inTime)}>Zoom in</a>
      {model !== undefined && (
        <>
          <a href={hrefTo({ view: 'compare' }, { model, ...comparedWithBefore(span) })}>
            Compare with before
          </a>
          <a href={`${hrefTo({ view: 'model', model }, inTime)}#requests`}>Slowest requests</a>
        </>
      )}
      <button type="button" class="small" onClick={clear}>
        Clear
      </button>
    </div>
  );
}
