import { useMemo } from 'preact/hooks';
import { formatCount, formatMsRange, formatShare, msFormat } from '../format/number.ts';
import { stepText } from '../format/time.ts';
import { zone } from '../state/zone.ts';
import { bandEdgeMs, type Density, depthOf } from './geometry/density.ts';
import { logAxis } from './parts/axis.ts';
import type { Cursor } from './parts/chart-frame.tsx';
import type { Lane } from './parts/event-lane.tsx';
import type { Area } from './parts/plot.tsx';
import { TimePlot } from './parts/time-plot.tsx';

interface Props {
  readonly label: string;
  readonly density: Density;
  readonly lane: Lane;
}

const legendShares = [1e-4, 1e-3, 0.01, 0.1, 1] as const;
/** Colours between two of the legend. */
const shades = 10;

/**
 * Exact counts of requests by step and band, on a log axis. A colour is the share of the step's requests, on
 * a log scale, so that a busy noon does not look like a slow one.
 */
export function DensityChart({ label, density, lane }: Props) {
  const { grid, notStored } = density;
  const [first, end] = density.bands;
  const { unit, tick } = msFormat([bandEdgeMs(end)]);
  const byPlace = useMemo(
    () => new Map(density.cells.map((cell) => [`${cell.column} ${cell.band}`, cell])),
    [density],
  );
  const describe = ({ column, row }: Cursor) => {
    const step = stepText(grid, column, zone.value);
    const band = formatMsRange(bandEdgeMs(first + row), bandEdgeMs(first + row + 1));
    return `${step}, ${band}: ${shareText(density, column, byPlace.get(`${column} ${first + row}`))}`;
  };
  return (
    <TimePlot
      name="density"
      {...{ label, grid, lane, notStored, describe }}
      height={280}
      rows={Math.max(1, end - first)}
      y={logAxis([bandEdgeMs(first), bandEdgeMs(end)], tick)}
      start={startOf(density)}
      above={`${unit}, log`}
      isCell
      legend={() => (
        <>
          <span class="chart-legend-at chart-legend-wide">Share of the requests of each step</span>
          <span
            class="chart-ramp"
            role="img"
            aria-label="Colours from 0.01 % to 100 % of a step's requests"
          >
            {legendShares.map((share, i) => (
              <span key={share}>
                <i style={{ background: `var(--density-${i})` }} />
                {share * 100} %
              </span>
            ))}
          </span>
        </>
      )}
    >
      {(area) => <Cells {...{ density, area }} />}
    </TimePlot>
  );
}

interface CellsProps {
  readonly density: Density;
  readonly area: Area;
}

/** The cells, a path a colour, and where open steps begin. */
function Cells({ density: { cells, states, bands }, area }: CellsProps) {
  const { slot, top, bottom } = area;
  const rowHeight = (bottom - top) / Math.max(1, bands[1] - bands[0]);
  const y = (band: number) => Math.round(bottom - (band - bands[0]) * rowHeight);
  const paths = new Map<number, string>();
  for (const { column, band, share } of cells) {
    const [left, right] = slot(column).map(Math.round);
    const shade = Math.round(depthOf(share) * shades * (legendShares.length - 1));
    const cell = `M${left} ${y(band)}H${right}V${y(band + 1)}H${left}Z`;
    paths.set(shade, `${paths.get(shade) ?? ''}${cell}`);
  }
  const firstOpen = states.indexOf('open');
  return (
    <>
      {[...paths].map(([shade, d]) => (
        <path key={shade} class="density-cells" d={d} style={{ fill: colorOf(shade) }} />
      ))}
      {firstOpen !== -1 && (
        <path class="density-open" d={`M${slot(firstOpen)[0]} ${top}V${bottom}`} />
      )}
    </>
  );
}

/** A colour of the ramp, or between two of them. */
function colorOf(shade: number): string {
  const at = Math.min(legendShares.length - 2, Math.floor(shade / shades));
  const part = ((shade - at * shades) * 100) / shades;
  return `color-mix(in oklab, var(--density-${at + 1}) ${part}%, var(--density-${at}))`;
}

/** The band with the most requests of the last step that has some. */
function startOf({ requests, cells, bands: [first] }: Density): Cursor {
  const column = requests.findLastIndex((count) => count > 0);
  const inColumn = cells.filter((cell) => cell.column === column);
  const [most] = inColumn.toSorted((one, other) => other.share - one.share);
  return { column, row: (most?.band ?? first) - first };
}

function shareText(
  { requests, states }: Density,
  column: number,
  cell: Density['cells'][number] | undefined,
): string {
  const all = requests[column] ?? 0;
  if (all === 0) return states[column] === 'open' ? 'not stored yet' : 'no requests';
  if (cell === undefined) return `none of ${formatCount(all)} requests`;
  return `${formatCount(cell.requests)} of ${formatCount(all)} requests, ${formatShare(cell.share)}`;
}
