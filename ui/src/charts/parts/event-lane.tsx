import { stackSpans } from '../geometry/lanes.ts';
import type { TimeSpan } from '../geometry/step-grid.ts';

/** An incident under a chart over time. */
export interface LaneIncident {
  readonly id: string;
  readonly title: string;
  readonly href: string;
  readonly severity: 'critical' | 'warning' | 'info';
  readonly fromMs: number;
  /** Null while it is open. */
  readonly toMs: number | null;
}

/** A version that is seen for the first time. */
export interface LaneRelease {
  readonly version: string;
  readonly href: string;
  readonly atMs: number;
}

interface Props {
  readonly span: TimeSpan;
  readonly incidents: readonly LaneIncident[];
  readonly releases: readonly LaneRelease[];
  readonly gutters: { readonly left: number; readonly right: number };
}

/** Rows of incidents at most; more are counted. */
const mostRows = 3;

/** Incidents as bars and releases as flags, on the time axis of the chart above. */
export function EventLane({ span, incidents, releases, gutters }: Props) {
  const { fromMs, toMs } = span;
  const shown = incidents.filter((one) => one.fromMs < toMs && (one.toMs ?? toMs) > fromMs);
  const flags = releases.filter(({ atMs }) => atMs >= fromMs && atMs < toMs);
  if (shown.length === 0 && flags.length === 0) return null;
  const percent = (ms: number) =>
    ((Math.min(Math.max(ms, fromMs), toMs) - fromMs) / (toMs - fromMs)) * 100;
  const spans = shown.map((one) => ({ fromMs: one.fromMs, toMs: one.toMs ?? toMs }));
  const rows = stackSpans(spans, (toMs - fromMs) / 200);
  const depth = Math.min(mostRows, Math.max(0, ...rows.map((row) => row + 1)));
  const hidden = rows.filter((row) => row >= mostRows).length;
  const flagTop = depth * 12 + (depth === 0 ? 0 : 4);
  const height = flagTop + (flags.length === 0 ? 0 : 20);
  return (
    <div
      class="chart-lane"
      style={{ marginLeft: `${gutters.left}px`, marginRight: `${gutters.right}px` }}
    >
      <ul
        class="chart-lane-items"
        aria-label="Incidents and releases"
        style={{ height: `${height}px` }}
      >
        {shown.map((one, i) => {
          const left = percent(one.fromMs);
          const row = rows[i] ?? 0;
          if (row >= mostRows) return null;
          const width = Math.max(0.6, percent(one.toMs ?? toMs) - left);
          return (
            <li key={one.id}>
              <a
                class="chart-incident"
                data-severity={one.severity}
                data-open={one.toMs === null}
                href={one.href}
                title={one.title}
                style={{ left: `${left}%`, width: `${width}%`, top: `${row * 12}px` }}
              >
                <span class="sr">Incident: {one.title}</span>
              </a>
            </li>
          );
        })}
        {flags.map((release, i) => {
          const left = percent(release.atMs);
          const next = percent(flags[i + 1]?.atMs ?? toMs);
          return (
            <li key={release.version}>
              <a
                class="chart-release"
                data-side={left > 75 ? 'left' : 'right'}
                href={release.href}
                title={`Release ${release.version}: compare it with what was before`}
                style={{
                  left: `${left}%`,
                  top: `${flagTop}px`,
                  maxWidth: `${Math.max(4, left > 75 ? left : next - left)}%`,
                }}
              >
                ⚑ {release.version}
              </a>
            </li>
          );
        })}
      </ul>
      {hidden > 0 && <p class="chart-note">{hidden} more incidents: see the table.</p>}
    </div>
  );
}
