import { useRef } from 'preact/hooks';
import type { TimeSpan } from '../../format/time.ts';
import { formatAs } from '../../format/time.ts';
import { zone } from '../../state/zone.ts';
import { flagWidth, isLeft, joinFlags, stackSpans } from '../geometry/lanes.ts';
import { linearScale } from '../geometry/scale.ts';
import { guttersOf } from './plot.tsx';
import { useWidth } from './use-width.ts';

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

export interface Lane {
  readonly incidents: readonly LaneIncident[];
  readonly releases: readonly LaneRelease[];
}

/** Rows of incidents at most; more are counted. */
const mostRows = 3;

/** Incidents as bars and releases as flags, on the time axis of the chart above. */
export function EventLane({ span, incidents, releases }: Lane & { readonly span: TimeSpan }) {
  const { fromMs, toMs } = span;
  const host = useRef<HTMLDivElement>(null);
  const outer = useWidth(host);
  const gutters = guttersOf(outer);
  const width = outer - gutters.left - gutters.right;
  const shown = incidents.filter((one) => one.fromMs < toMs && (one.toMs ?? toMs) > fromMs);
  const flags = releases
    .filter(({ atMs }) => atMs >= fromMs && atMs < toMs)
    .sort((one, other) => one.atMs - other.atMs);
  const scale = linearScale([fromMs, toMs], [0, width]);
  const x = (ms: number) => scale(Math.min(Math.max(ms, fromMs), toMs));
  const spans = shown.map((one) => ({ fromMs: one.fromMs, toMs: one.toMs ?? toMs }));
  const rows = stackSpans(spans, (toMs - fromMs) / 200);
  const depth = Math.min(mostRows, Math.max(0, ...rows.map((row) => row + 1)));
  const hidden = rows.filter((row) => row >= mostRows).length;
  const top = depth * 12 + (depth === 0 ? 0 : 4);
  const labels = flags.map(({ atMs, version }) => ({ x: x(atMs), text: version }));
  const groups = joinFlags(labels, width, joinedText);
  const height = top + (flags.length === 0 ? 0 : 20);
  return (
    <div
      ref={host}
      class="chart-lane"
      hidden={shown.length === 0 && flags.length === 0}
      style={{ paddingLeft: `${gutters.left}px`, paddingRight: `${gutters.right}px` }}
    >
      <ul
        class="chart-lane-items"
        aria-label="Incidents and releases"
        style={{ height: `${height}px` }}
      >
        {shown.map((one, i) => {
          const [left, row] = [x(one.fromMs), rows[i] ?? 0];
          if (row >= mostRows) return null;
          const size = { left: `${left}px`, width: `${x(one.toMs ?? toMs) - left}px` };
          return (
            <li key={one.id}>
              <a
                class="chart-incident"
                data-severity={one.severity}
                data-open={one.toMs === null}
                href={one.href}
                title={one.title}
                style={{ ...size, top: `${row * 12}px` }}
              >
                <span class="sr">Incident: {one.title}</span>
              </a>
            </li>
          );
        })}
        {groups.map((group) => (
          <ReleaseFlag
            key={group[0]}
            releases={group.flatMap((i) => flags[i] ?? [])}
            x={labels[group[0]]?.x ?? 0}
            {...{ top, width }}
          />
        ))}
      </ul>
      {hidden > 0 && <p class="chart-note">{hidden} more incidents, in the table.</p>}
    </div>
  );
}

const joinedText = (count: number) => `${count} versions`;

interface FlagProps {
  /** In the order of time. Those that would stand on each other are one flag. */
  readonly releases: readonly LaneRelease[];
  readonly x: number;
  readonly top: number;
  /** Of the axis. */
  readonly width: number;
}

/** The flag of a release, or of several at about the same time: their names show on hover and focus. */
function ReleaseFlag({ releases, x, top, width }: FlagProps) {
  const [first] = releases;
  const newest = releases.at(-1);
  if (first === undefined || newest === undefined) return null;
  const isJoined = releases.length > 1;
  const text = isJoined ? joinedText(releases.length) : first.version;
  const names = releases.map(
    ({ version, atMs }) => `${version} ${formatAs(atMs, 'time', zone.value)}`,
  );
  const what = isJoined
    ? `${text} first seen: ${names.join(', ')}. Compare the newest with what was before`
    : `Release ${first.version}: compare it with what was before`;
  const side = isLeft(x, flagWidth(text), width) ? 'left' : 'right';
  return (
    <li>
      <a
        class="chart-release"
        data-side={side}
        href={newest.href}
        aria-label={what}
        {...(!isJoined && { title: what })}
        style={{ left: `${x}px`, top: `${top}px` }}
      >
        ⚑ {text}
        {isJoined && (
          <span class="chart-release-names" aria-hidden="true">
            {names.map((name) => (
              <span key={name}>{name}</span>
            ))}
          </span>
        )}
      </a>
    </li>
  );
}
